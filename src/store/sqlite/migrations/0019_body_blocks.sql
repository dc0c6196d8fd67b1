CREATE TABLE `body_blocks` (
	`id` integer PRIMARY KEY NOT NULL,
	`bodies` integer NOT NULL,
	`block` blob NOT NULL
);
--> statement-breakpoint
ALTER TABLE `raw_answers` ADD `block_id` integer;