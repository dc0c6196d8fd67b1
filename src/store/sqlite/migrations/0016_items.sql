CREATE TABLE `hashed` (
	`name` text PRIMARY KEY NOT NULL,
	`up_to` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `item_hashes` (
	`hash` integer NOT NULL,
	`id` integer NOT NULL,
	PRIMARY KEY(`hash`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `items` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` integer NOT NULL,
	`size` integer NOT NULL,
	`link_id` integer,
	`title` text,
	`snippet` text,
	`source` text,
	`displayed_link` text,
	`matched` text
);
--> statement-breakpoint
CREATE TABLE `link_hashes` (
	`hash` integer NOT NULL,
	`id` integer NOT NULL,
	PRIMARY KEY(`hash`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `answers_` ADD `positions` text;--> statement-breakpoint
ALTER TABLE `answers_` ADD `items` text;