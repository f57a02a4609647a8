"""What somebody who learns alone needs: solutions, self-checks, and a record to take along."""
