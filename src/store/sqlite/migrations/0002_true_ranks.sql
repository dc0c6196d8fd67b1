DROP INDEX `targets_site`;--> statement-breakpoint
ALTER TABLE `targets` ADD `also` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `targets_site` ON `targets` (`site`,`match`,`also`);--> statement-breakpoint
ALTER TABLE `dated_details` ADD `precision` text;--> statement-breakpoint
ALTER TABLE `observations` ADD `page` integer;--> statement-breakpoint
ALTER TABLE `observations` ADD `unbroken_depth` integer;--> statement-breakpoint
ALTER TABLE `observations` ADD `unbroken_pages` integer;--> statement-breakpoint
ALTER TABLE `observations` ADD `places` text;--> statement-breakpoint
CREATE INDEX `observations_query` ON `observations` (`query_id`,`target_id`,`run_id`);--> statement-breakpoint
ALTER TABLE `run_queries` ADD `paging_kind` text;--> statement-breakpoint
UPDATE `run_queries` SET `paging_kind` = CASE
	WHEN `paging_end` IN ('the depth asked for was reached', 'no page is left') THEN 'depth'
	WHEN `paging_end` = 'every target was found' THEN 'found'
	WHEN `paging_end` IN ('the page is empty', 'the service has no next page') THEN 'ended'
	WHEN `paging_end` LIKE 'page % failed' THEN 'failed'
	ELSE 'broke' END
WHERE `paging_end` IS NOT NULL;--> statement-breakpoint
ALTER TABLE `run_queries` DROP COLUMN `paging_final`;