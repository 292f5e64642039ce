# Opera house seat pricing, old TF1 code that still runs every week.
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

N_SHOWS, N_SEATS = 300, 900
DIM = 24
BATCH = 6144
STEPS = 500


def sales(n, rng):
    show = rng.integers(0, N_SHOWS, n)
    seat = rng.integers(0, N_SEATS, n)
    hype = rng.normal(0, 1, (N_SHOWS, 3))
    view = rng.normal(0, 1, (N_SEATS, 3))
    price = 60 + 12 * (hype[show] * view[seat]).sum(1) + rng.normal(0, 4, n)
    return show.astype("int32"), seat.astype("int32"), price.astype("float32")


def tower(x, sizes, name):
    with tf.variable_scope(name):
        for i, size in enumerate(sizes):
            w = tf.get_variable(
                f"w{i}", [x.shape[-1], size], initializer=tf.glorot_uniform_initializer(seed=i)
            )
            b = tf.get_variable(f"b{i}", [size], initializer=tf.zeros_initializer())
            x = tf.matmul(x, w) + b
            if i + 1 < len(sizes):
                x = tf.nn.relu(x)
    return x


class SeatModel:
    def __init__(self):
        self.show = tf.placeholder(tf.int32, [None])
        self.seat = tf.placeholder(tf.int32, [None])
        self.price = tf.placeholder(tf.float32, [None])
        self.lr = tf.get_variable("lr", initializer=0.01, trainable=False)
        self.new_lr = tf.placeholder(tf.float32, [])
        self.set_lr = tf.assign(self.lr, self.new_lr)
        init = tf.random_normal_initializer(stddev=0.3, seed=9)
        e_show = tf.get_variable("e_show", [N_SHOWS, DIM], initializer=init)
        e_seat = tf.get_variable("e_seat", [N_SEATS, DIM], initializer=init)
        a = tf.gather(e_show, self.show)
        b = tf.gather(e_seat, self.seat)
        x = tf.concat([a, b, a * b], axis=-1)
        self.pred = 60.0 + 10.0 * tower(x, [128, 64, 1], "mlp")[:, 0]
        self.err = self.pred - self.price
        self.loss = tf.reduce_mean(tf.square(self.err))
        self.train = tf.train.AdamOptimizer(self.lr).minimize(self.loss)
        self.mae = tf.reduce_mean(tf.abs(self.err))

    def feed(self, rows):
        return {self.show: rows[0], self.seat: rows[1], self.price: rows[2]}


def learning_rate(step):
    return 0.01 * 0.5 * (1 + np.cos(np.pi * step / STEPS)) + 1e-4


def fit_step(sess, model, rows, step):
    sess.run(tf.assign(model.lr, learning_rate(step)))
    loss, _ = sess.run([model.loss, model.train], model.feed(rows))
    return loss


def main():
    tf.set_random_seed(4)
    rng = np.random.default_rng(12)
    show, seat, price = sales(120_000, rng)
    cut = 110_000
    test = (show[cut:], seat[cut:], price[cut:])
    model = SeatModel()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        running = None
        for step in range(STEPS):
            pick = rng.integers(0, cut, BATCH)
            loss = fit_step(sess, model, (show[pick], seat[pick], price[pick]), step)
            running = loss if running is None else 0.95 * running + 0.05 * loss
            if step % 200 == 0:
                mae = sess.run(model.mae, model.feed(test))
                print("step %4d  mse %8.2f  test mae %.2f" % (step, running, mae))
        print("final test mae %.2f" % sess.run(model.mae, model.feed(test)))
        first_row = sess.run(model.pred, {model.show: np.arange(5), model.seat: np.zeros(5)})
        print("best seat, first five shows:", np.round(first_row, 1))


if __name__ == "__main__":
    main()
