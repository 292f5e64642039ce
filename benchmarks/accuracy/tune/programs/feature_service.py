"""Delivery times from a feature service: it answers requests for orders, page by page."""

import http.server
import json
import threading
import time
import urllib.request

import numpy as np
import tensorflow as tf

PAGE, FEATURES = 64, 24
weights = np.random.default_rng(0).normal(size=FEATURES)


class FeatureService(http.server.BaseHTTPRequestHandler):
    """Stands for the store that the company runs."""

    def do_GET(self):
        page = int(self.path.rsplit("/", 1)[1])
        rng = np.random.default_rng(page)
        x = rng.normal(size=(PAGE, FEATURES)).round(4)
        minutes = 30 + x @ weights + rng.normal(0, 1, PAGE)
        time.sleep(0.035)
        body = json.dumps({"x": x.tolist(), "minutes": minutes.tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FeatureService)
threading.Thread(target=server.serve_forever, daemon=True).start()
ADDRESS = f"http://127.0.0.1:{server.server_port}/orders"


def fetch_orders(page):
    with urllib.request.urlopen(f"{ADDRESS}/{page}", timeout=10) as answer:
        orders = json.load(answer)
    return (
        tf.constant(orders["x"], tf.float32),
        tf.constant(orders["minutes"], tf.float32)[:, None],
    )


def regressor():
    inputs = tf.keras.Input((FEATURES,))
    x = inputs
    for _ in range(6):
        h = tf.keras.layers.LayerNormalization()(x)
        h = tf.keras.layers.Dense(512, activation="gelu")(h)
        h = tf.keras.layers.Dense(256)(h)
        x = h if x is inputs else tf.keras.layers.Add()([x, h])
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))


model = regressor()
optimizer = tf.keras.optimizers.Adam(3e-4)


@tf.function
def train_step(x, minutes):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(x, training=True) - minutes))
    gradients = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights))
    return loss


for step in range(520):
    x, minutes = fetch_orders(page=step)
    for _ in range(2):
        loss = train_step(x, minutes)
    if step % 40 == 0:
        print(f"{(step + 1) * PAGE} orders: off by {float(loss):.2f} minutes")
server.shutdown()
