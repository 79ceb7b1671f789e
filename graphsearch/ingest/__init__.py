"""What comes in: text and code to entities, claims and relations."""
