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
	`muted_until` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_open` ON `alerts` (`identity`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `alerts_job` ON `alerts` (`job`,`opened_at`);--> statement-breakpoint
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
CREATE TABLE `slots` (
	`job` text NOT NULL,
	`slot_at` integer NOT NULL,
	`taken_at` integer NOT NULL,
	`run_id` integer,
	`outcome` text,
	`reason` text,
	PRIMARY KEY(`job`, `slot_at`)
);
