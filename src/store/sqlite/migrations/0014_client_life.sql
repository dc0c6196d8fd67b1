CREATE TABLE `mutes` (
	`id` integer PRIMARY KEY NOT NULL,
	`job` text,
	`tag` text,
	`when` text,
	`until` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `jobs` ADD `paused_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `resumed_at` integer;