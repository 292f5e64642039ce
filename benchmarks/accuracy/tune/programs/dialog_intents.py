"""Trains the intent classifier of the package beside this file; short sentences come first."""

import logging
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from dialog.config import Config
from dialog.data import Sentences
from dialog.model import IntentModel
from dialog.trainer import Trainer


def main():
    logging.basicConfig(level=logging.INFO)
    config = Config()
    model = IntentModel(config)
    trainer = Trainer(model, config)
    trainer.on_stage_end(lambda longest: model.save_weights(f"stage_{longest}.weights.h5"))
    trainer.run(Sentences(config))


if __name__ == "__main__":
    main()
