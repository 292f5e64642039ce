"""Parts of the intent classifier that dialog_intents.py trains."""
