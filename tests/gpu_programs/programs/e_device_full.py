"""Activations of each step are kept on a card of 1 GiB until a thread has written them. SLOW from step 200 on: gpu_memory."""
import os, threading, time
import tensorflow as tf, keras
os.environ.pop("TF_FORCE_GPU_ALLOW_GROWTH", None)
(gpu,) = tf.config.list_physical_devices("GPU")
LIMIT = 1024
tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=LIMIT)])
from keras import layers
model = keras.Sequential([keras.Input((256,)), layers.Dense(512, activation="relu"), layers.Dense(512, activation="relu"), layers.Dense(1)])
opt = keras.optimizers.SGD(0.001); opt.build(model.trainable_variables)
@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
def used():
    return tf.config.experimental.get_memory_info("GPU:0")["current"]
def write(kept):
    time.sleep(0.03)
    last = [kept.pop() for _ in range(4)]
    kept.clear()
    while last:
        last.pop(); time.sleep(0.0005)
x = tf.random.normal([128, 256]); y = tf.reduce_mean(x, 1, keepdims=True)
lost = []
usual = []
for step in range(400):
    began = time.perf_counter()
    writer = None
    if step >= 200:
        kept = []
        while used() < 0.93 * LIMIT * 2**20:
            kept.append(tf.zeros([4096, 1024]))
        writer = threading.Thread(target=write, args=(kept,)); del kept
        writer.start()
    many = tf.tile(x[tf.newaxis], [1024, 1, 1])
    float(learn(tf.reduce_mean(many, axis=0), y))
    del many
    if writer: writer.join()
    (lost if step >= 200 else usual).append(time.perf_counter() - began)
usual.sort()
print("lost", sum(lost) - len(lost) * usual[len(usual) // 2], "median before", usual[len(usual) // 2])
