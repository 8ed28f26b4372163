"""The Python interface, the client of grading servers, and what the server calls."""
