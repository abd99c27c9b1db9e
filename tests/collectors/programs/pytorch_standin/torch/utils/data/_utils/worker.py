def _worker_loop(load):
    load()
