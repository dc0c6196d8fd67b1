CREATE TABLE `click_additions` (
	`id` integer PRIMARY KEY NOT NULL,
	`added_at` integer NOT NULL,
	`source` text NOT NULL,
	`digest` text NOT NULL,
	`rows` integer NOT NULL,
	`other_searches` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `click_additions_digest_unique` ON `click_additions` (`digest`);--> statement-breakpoint
CREATE TABLE `click_days` (
	`table_id` integer NOT NULL,
	`day` integer NOT NULL,
	`until_day` integer NOT NULL,
	`clicks` integer NOT NULL,
	`impressions` integer NOT NULL,
	`anonymous_clicks` integer NOT NULL,
	`anonymous_impressions` integer NOT NULL,
	PRIMARY KEY(`table_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `click_rows` (
	`table_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`page_id` integer NOT NULL,
	`country` text NOT NULL,
	`day` integer NOT NULL,
	`clicks` integer NOT NULL,
	`impressions` integer NOT NULL,
	`position_sum` real NOT NULL,
	PRIMARY KEY(`table_id`, `query_id`, `page_id`, `country`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `click_tables` (
	`id` integer PRIMARY KEY NOT NULL,
	`addition_id` integer NOT NULL,
	`property` text NOT NULL,
	`site` text NOT NULL,
	`counted_by` text NOT NULL,
	`rows_of` text NOT NULL,
	`time_span` text NOT NULL,
	`has_countries` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `click_tables_addition` ON `click_tables` (`addition_id`);--> statement-breakpoint
CREATE TABLE `click_texts` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` integer NOT NULL,
	`text` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `click_texts_hash` ON `click_texts` (`hash`);--> statement-breakpoint
CREATE TABLE `volumes_` (
	`query` text NOT NULL,
	`country` text NOT NULL,
	`source` text NOT NULL,
	`volume` real,
	`least` real,
	`most` real,
	`day` integer NOT NULL,
	`file` text NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`query`, `country`, `source`)
) WITHOUT ROWID;
