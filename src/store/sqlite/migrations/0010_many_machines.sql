CREATE TABLE `journal_reader` (
	`id` text PRIMARY KEY NOT NULL,
	`journal` text,
	`position` text
);
--> statement-breakpoint
CREATE TABLE `shared_calls` (
	`id` blob PRIMARY KEY NOT NULL,
	`call_id` integer NOT NULL,
	`answer_id` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `shared_calls_number` ON `shared_calls` (`call_id`);--> statement-breakpoint
CREATE TABLE `shared_runs` (
	`run_id` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`group_id` text NOT NULL,
	`plan_version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shared_runs_id_unique` ON `shared_runs` (`id`);--> statement-breakpoint
CREATE TABLE `sync_steps` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`step` text NOT NULL
);
