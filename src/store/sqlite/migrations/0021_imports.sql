CREATE TABLE `imported_answers_` (
	`query_id` integer NOT NULL,
	`day` integer NOT NULL,
	`file_id` integer NOT NULL,
	`links` text NOT NULL,
	PRIMARY KEY(`query_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `imported_files` (
	`id` integer PRIMARY KEY NOT NULL,
	`import_id` integer NOT NULL,
	`format` text NOT NULL,
	`path` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `imported_links` (
	`id` integer PRIMARY KEY NOT NULL,
	`import_id` integer NOT NULL,
	`link` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `imported_observations` (
	`series_id` integer NOT NULL,
	`day` integer NOT NULL,
	`state` integer NOT NULL,
	`rank` integer,
	`depth` integer,
	`link_id` integer,
	`reason` integer,
	`file_id` integer NOT NULL,
	PRIMARY KEY(`series_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `imported_queries` (
	`id` integer PRIMARY KEY NOT NULL,
	`import_id` integer NOT NULL,
	`key` blob NOT NULL,
	`text` text NOT NULL,
	`gl` text,
	`hl` text,
	`location` text,
	`device` text,
	`engine` text,
	`volume` real,
	`tags` text NOT NULL,
	`url` text
);
--> statement-breakpoint
CREATE INDEX `imported_queries_key` ON `imported_queries` (`key`);--> statement-breakpoint
CREATE INDEX `imported_queries_text` ON `imported_queries` (`text`);--> statement-breakpoint
CREATE TABLE `imported_series` (
	`id` integer PRIMARY KEY NOT NULL,
	`query_id` integer NOT NULL,
	`target` text NOT NULL,
	`rank_kind` text NOT NULL,
	`repeats` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `imported_series_query` ON `imported_series` (`query_id`);--> statement-breakpoint
CREATE TABLE `imports_` (
	`id` integer PRIMARY KEY NOT NULL,
	`job` text,
	`imported_at` integer NOT NULL,
	`reasons` text NOT NULL,
	`summary` text NOT NULL
);
