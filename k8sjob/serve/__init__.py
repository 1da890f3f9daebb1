"""What is seen from outside: metrics at each scrape, a page for people, the same as JSON."""
