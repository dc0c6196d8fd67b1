ALTER TABLE `answers_` ADD `echo_mismatch` text;--> statement-breakpoint
CREATE INDEX `answers_mismatched` ON `answers_` (`id`) WHERE echo_mismatch is not null;--> statement-breakpoint
ALTER TABLE `observations` ADD `suspect` integer DEFAULT 0 NOT NULL;