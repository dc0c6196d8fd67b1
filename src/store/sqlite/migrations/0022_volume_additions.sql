CREATE TABLE `__new_volumes_` (
	`query` text NOT NULL,
	`country` text NOT NULL,
	`addition_id` integer NOT NULL,
	`source` text NOT NULL,
	`volume` real,
	`least` real,
	`most` real,
	`day` integer NOT NULL,
	`file` text NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`query`, `country`, `addition_id`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_volumes_`("query", "country", "addition_id", "source", "volume", "least", "most", "day", "file", "added_at") SELECT "query", "country", dense_rank() OVER (ORDER BY "added_at", "source", "file"), "source", "volume", "least", "most", "day", "file", "added_at" FROM `volumes_`;--> statement-breakpoint
DROP TABLE `volumes_`;--> statement-breakpoint
ALTER TABLE `__new_volumes_` RENAME TO `volumes_`;
