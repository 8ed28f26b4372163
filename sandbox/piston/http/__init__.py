"""One HTTP exchange with a Piston server: bounded connections, faults, /api/v2/execute."""
