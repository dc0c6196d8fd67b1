CREATE TABLE `workspaces` (
	`folder` text PRIMARY KEY NOT NULL,
	`channels` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `alerts` ADD `stopped` text;