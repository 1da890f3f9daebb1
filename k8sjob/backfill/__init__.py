"""Running periods again: by Jobs made from the CronJob's template, or in this process."""
