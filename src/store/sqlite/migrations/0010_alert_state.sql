CREATE TABLE `judged_runs` (
	`run_id` integer PRIMARY KEY NOT NULL,
	`finished_at` integer,
	`closed_at` integer
);
--> statement-breakpoint
ALTER TABLE `alerts` ADD `told` integer DEFAULT true NOT NULL;