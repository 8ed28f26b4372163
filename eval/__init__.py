"""What a run is: problems, solutions, the choice of tests, the scheduler, records, reports."""
