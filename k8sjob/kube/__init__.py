"""What k8sjob reads from and writes to Kubernetes: names, words, objects and two ways to ask."""
