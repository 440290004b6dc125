"""Running a plan on a cluster: stages that are left, jobs that are planned, submitted, watched, and begun again."""
