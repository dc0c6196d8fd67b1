CREATE TABLE `keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash_unique` ON `keys` (`hash`);--> statement-breakpoint
ALTER TABLE `calls_` ADD `key_id` integer;--> statement-breakpoint
ALTER TABLE `calls_` ADD `job_ended_at` integer;--> statement-breakpoint
ALTER TABLE `usage_readings` ADD `asked_at` integer;