"""What notebooks and widgets find of Google Colab, in its place."""

from google.colab import output  # noqa: F401
