"""What texts are screened for before they are stored: secrets, personal data and instructions."""
