CREATE TABLE `counted_runs` (
	`run_id` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `rank_counts_` (
	`run_id` integer NOT NULL,
	`target_id` integer NOT NULL,
	`state` text NOT NULL,
	`estimated` integer NOT NULL,
	`place` integer NOT NULL,
	`queries` integer NOT NULL,
	`volume` real,
	PRIMARY KEY(`run_id`, `target_id`, `state`, `estimated`, `place`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `queries_text` ON `queries` (`text`);