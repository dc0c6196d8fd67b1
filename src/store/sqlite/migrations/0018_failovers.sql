CREATE TABLE `queue_failovers` (
	`at` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `read_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`read_at` integer NOT NULL,
	`change` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `read_changes_at` ON `read_changes` (`read_at`);