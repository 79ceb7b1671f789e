"""What texts and code say, as surface forms and statements: by rules, by a language model, from source code."""
