DROP TABLE `results`;--> statement-breakpoint
DROP INDEX `links_hash`;--> statement-breakpoint
INSERT INTO `link_hashes` SELECT `hash`, `id` FROM `links` ORDER BY `hash`, `id`;--> statement-breakpoint
INSERT INTO `item_hashes` SELECT `hash`, `id` FROM `items` ORDER BY `hash`, `id`;--> statement-breakpoint
INSERT INTO `hashed` SELECT 'links', coalesce(max(`id`), 0) FROM `links`;--> statement-breakpoint
INSERT INTO `hashed` SELECT 'items', coalesce(max(`id`), 0) FROM `items`;--> statement-breakpoint
CREATE TABLE `kept_texts` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` integer NOT NULL,
	`text` text NOT NULL
);
--> statement-breakpoint
INSERT INTO `kept_texts` SELECT `id`, `hash`, `text` FROM `texts` WHERE `id` IN (
	SELECT `notice` FROM `answers_` WHERE `notice` IS NOT NULL UNION ALL SELECT `search_parameters` FROM `answers_` WHERE `search_parameters` IS NOT NULL UNION ALL SELECT `knowledge_graph` FROM `answers_` WHERE `knowledge_graph` IS NOT NULL
	UNION ALL SELECT `ai_markdown` FROM `answers_` WHERE `ai_markdown` IS NOT NULL UNION ALL SELECT `ai_blocks` FROM `answers_` WHERE `ai_blocks` IS NOT NULL
	UNION ALL SELECT `date_id` FROM `dated_details` WHERE `date_id` IS NOT NULL UNION ALL SELECT `channel_id` FROM `dated_details` WHERE `channel_id` IS NOT NULL
	UNION ALL SELECT `duration_id` FROM `dated_details` WHERE `duration_id` IS NOT NULL UNION ALL SELECT `thumbnail_id` FROM `image_details` WHERE `thumbnail_id` IS NOT NULL
	UNION ALL SELECT `title_id` FROM `observations` WHERE `title_id` IS NOT NULL);--> statement-breakpoint
DROP TABLE `texts`;--> statement-breakpoint
ALTER TABLE `kept_texts` RENAME TO `texts`;--> statement-breakpoint
CREATE INDEX `texts_hash` ON `texts` (`hash`);
