from keras import layers
import keras


def conv_classifier(size, ways, filters=32, blocks=3):
    inputs = keras.Input((size, size, 1))
    x = inputs
    for i in range(blocks):
        x = layers.Conv2D(filters, 3, padding="same", name=f"conv{i}")(x)
        x = layers.LayerNormalization(name=f"norm{i}")(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    outputs = layers.Dense(ways, name="logits")(x)
    return keras.Model(inputs, outputs, name="glyph_net")
