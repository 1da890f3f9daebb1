"""What is not done: found, stored, explained, and started again where a job asks for that."""
