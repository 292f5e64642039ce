import tensorflow as tf

from keeping import KeepsBest, Smoothed


class Session:
    def __init__(self, cfg):
        self.cfg = cfg
        self.history = []

    def one_round(self, k):
        raise NotImplementedError

    def after_round(self, k, outcome):
        self.history.append(outcome)

    def run(self, rounds):
        for k in range(rounds):
            self.after_round(k, self.one_round(k))


class BanditSession(KeepsBest, Session):
    def __init__(self, cfg, inn, agent):
        super().__init__(cfg)
        self.inn, self.agent = inn, agent
        self.smooth = Smoothed(cfg.decay)
        self.prepare_keeping(net=agent.net, optimizer=agent.optimizer)

    def one_round(self, k):
        ids, ctx = self.inn.arrivals(self.cfg.arrivals)
        ids_t, ctx_t = tf.constant(ids), tf.constant(ctx)
        valve = self.agent.act(ids_t, ctx_t)
        reward = self.inn.comfort(ids, ctx, valve.numpy())
        self.loss = self.agent.learn(ids_t, ctx_t, valve, tf.constant(reward))
        return float(reward.mean())

    def after_round(self, k, outcome):
        super().after_round(k, outcome)
        self.standing = self.smooth.add(outcome)
        if (k + 1) % self.cfg.report_every == 0:
            print(f"round {k + 1:4d}  loss {float(self.loss):.4f}  comfort {self.standing:.4f}")
