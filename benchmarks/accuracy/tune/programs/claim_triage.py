import time
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

# insurance claims -> {pay, review, reject}; old TF1 code base, still runs
N, D, K = 60000, 180, 3
BATCH = 512
STEPS = 900
np.random.seed(5)
tf.set_random_seed(5)

W = np.random.randn(D, 24) / np.sqrt(D)
V = np.random.randn(24, K)
X = np.random.randn(N, D).astype(np.float32)
Y = np.argmax(np.tanh(X @ W * 2) @ V + 0.4 * np.random.randn(N, K), axis=1).astype(np.int32)
Xv, Yv = X[-4000:], Y[-4000:]
X, Y = X[:-4000], Y[:-4000]


def dense(x, units, name, act=tf.nn.relu):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.shape[-1], units], initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
        y = tf.matmul(x, w) + b
        return act(y) if act is not None else y


x = tf.placeholder(tf.float32, [None, D], name="x")
y = tf.placeholder(tf.int32, [None], name="y")
lr = tf.placeholder(tf.float32, [], name="lr")

h = dense(x, 384, "fc1")
h = dense(h, 384, "fc2")
gate = dense(h, 384, "gate", tf.sigmoid)
h = gate * dense(h, 384, "fc3")
h = dense(h, 128, "fc4")
logits = dense(h, K, "out", None)

xent = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
l2 = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "/w" in v.name])
loss = xent + 1e-5 * l2
acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), y), tf.float32))

opt = tf.train.AdamOptimizer(lr)
gv = opt.compute_gradients(loss)
grads, gnorm = tf.clip_by_global_norm([g for g, _ in gv], 5.0)
train_op = opt.apply_gradients(zip(grads, [v for _, v in gv]))

cfg = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
avg = {"loss": 0.0, "acc": 0.0, "gnorm": 0.0}


def smooth(key, val):
    avg[key] = 0.98 * avg[key] + 0.02 * float(val)


with tf.Session(config=cfg) as sess:
    sess.run(tf.global_variables_initializer())
    perm = np.random.permutation(len(X))
    pos = 0
    t0 = time.time()
    for step in range(1, STEPS + 1):
        if pos + BATCH > len(X):
            perm = np.random.permutation(len(X))
            pos = 0
        idx = perm[pos : pos + BATCH]
        pos += BATCH
        rate = 1e-3 * min(1.0, step / 200.0)
        feed = {x: X[idx], y: Y[idx], lr: rate}
        sess.run(train_op, feed_dict=feed)
        smooth("loss", sess.run(loss, feed_dict=feed))
        smooth("acc", sess.run(acc, feed_dict=feed))
        smooth("gnorm", sess.run(gnorm, feed_dict=feed))
        if step % 100 == 0:
            print(
                "step %5d  loss %.4f  acc %.3f  |g| %.3f  %.1f it/s"
                % (step, avg["loss"], avg["acc"], avg["gnorm"], step / (time.time() - t0)),
                flush=True,
            )
        if step % 300 == 0:
            va = sess.run(acc, feed_dict={x: Xv, y: Yv})
            print("   holdout acc %.3f" % va)
