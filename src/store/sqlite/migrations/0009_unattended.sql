CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`identity` text NOT NULL,
	`job` text NOT NULL,
	`when` text NOT NULL,
	`query_id` integer,
	`target` text,
	`state` text NOT NULL,
	`opened_at` integer NOT NULL,
	`opened_run` integer,
	`over_at` integer,
	`over_run` integer,
	`before` text,
	`now` text,
	`text` text NOT NULL,
	`muted_until` integer,
	`told` integer DEFAULT true NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_open` ON `alerts` (`identity`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `alerts_job` ON `alerts` (`job`,`opened_at`);--> statement-breakpoint
CREATE TABLE `judged_runs` (
	`run_id` integer PRIMARY KEY NOT NULL,
	`finished_at` integer,
	`closed_at` integer
);
--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`identity` text NOT NULL,
	`channel` text NOT NULL,
	`kind` text NOT NULL,
	`job` text NOT NULL,
	`run_id` integer,
	`message` text NOT NULL,
	`created_at` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_try_at` integer NOT NULL,
	`last_error` text,
	`sent_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_identity_unique` ON `outbox` (`identity`);--> statement-breakpoint
CREATE INDEX `outbox_waiting` ON `outbox` (`next_try_at`) WHERE state = 'waiting';--> statement-breakpoint
CREATE TABLE `rechecks` (
	`run_id` integer PRIMARY KEY NOT NULL,
	`of_run` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rechecks_of_run_unique` ON `rechecks` (`of_run`);--> statement-breakpoint
CREATE TABLE `resting_queries` (
	`run_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`last_run` integer NOT NULL,
	PRIMARY KEY(`run_id`, `query_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `slots` (
	`job` text NOT NULL,
	`slot_at` integer NOT NULL,
	`taken_at` integer NOT NULL,
	`run_id` integer,
	`outcome` text,
	`reason` text,
	PRIMARY KEY(`job`, `slot_at`)
);
--> statement-breakpoint
ALTER TABLE `answers_` ADD `pruned_at` integer;