#!/usr/bin/env python3
# Runs the program `train` in several processes by mpirun, and compares what the processes print.
# SPDX-License-Identifier: Apache-2.0
"""Usage: run.py MPIRUN PROGRAM FOLDER TEST [times]

TEST is a function below; FOLDER is for files. A test that kills processes does so `times` times.
"""
import collections
import os
import random
import shutil
import subprocess
import sys
import time

POLICIES = ("float32", "mixed_bfloat16", "mixed_float16")
mpirun, program, folder, test = sys.argv[1:5]
times = int(sys.argv[5]) if len(sys.argv) > 5 else 3

Run = collections.namedtuple("Run", "code said text seconds end")


def run(processes, *words, limit=60, **environment):
    """The output of each rank, as lists of lines by rank."""
    return started([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(processes), program, *words]
                   if processes else [program, *words], limit, **environment)


def started(command, limit=60, **environment):
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit,
                          env={**os.environ, "HALFTONE_NUM_THREADS": "1", **environment})
    said = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        rank, colon, rest = line.partition(": ")
        if colon and rank.isdigit():
            said[int(rank)].append(rest)
    end = time.monotonic()  # the clock of the processes
    return Run(done.returncode, said, done.stdout + done.stderr, end - start, end)


def require(condition, message, *runs):
    if not condition:
        sys.exit(f"{test}: {message}\n" + "\n---\n".join(each.text for each in runs))


def well(processes, *words, **more):
    """A run that succeeds and in which all ranks print the same."""
    result = run(processes, *words, **more)
    require(result.code == 0, f"{processes} processes: exit code {result.code}", result)
    words_of_all = lambda rank: [line for line in result.said[rank] if not line.startswith("own ")]
    for rank in range(max(processes, 1)):
        require(words_of_all(rank) == words_of_all(0) and result.said[0], f"rank {rank} differs from rank 0", result)
    return result


def values(result, what):
    """The words after `what`, converted to numbers where possible."""
    return [line[len(what) + 1:] for line in result.said[0] if line.startswith(what + " ")]


def require_close(a, b, tolerance, *runs):
    require(len(a) == len(b) and a, "different counts of values", *runs)
    for x, y in zip(a, b):
        require(abs(float(x) - float(y)) <= tolerance * max(1, abs(float(y))), f"{x} is not close to {y}", *runs)


def deterministic(policy, net="mlp", counts=(1, 2, 3, 4)):
    """200 steps. Two runs are bit-identical; n processes have the bits and logs of one that accumulates n parts."""
    words = ("policy=" + policy, "net=" + net, "epochs=25", "shuffle=no", "rows=768", "batch=96")
    alone = well(0, "alone", *words)
    for processes in counts:
        first, second = well(processes, "together", *words), well(processes, "together", *words)
        require(first.said[0] == second.said[0], f"{processes} processes: two runs differ", first, second)
        if processes == 1:
            require(values(first, "state") == values(alone, "state"), "one process is not as one alone", first, alone)
            continue
        parts = well(0, "alone", f"split={processes}", f"accumulate={processes}", *words)
        require(values(first, "weights") == values(parts, "weights"),
                f"{processes} processes differ from one that accumulates", first, parts)
        for what in ("fit loss", "fit accuracy"):  # of the first epochs: later ones depend on the rounding of the first
            require_close(values(first, what)[:3], values(alone, what)[:3], 0.02, first, alone)


def deterministic_float32():
    deterministic("float32")


def deterministic_mixed_bfloat16():
    deterministic("mixed_bfloat16")


def deterministic_mixed_float16():
    deterministic("mixed_float16")


def deterministic_cnn():
    deterministic("mixed_bfloat16", "cnn", (2, 4))


def synchronized():
    """BatchNormalization(synchronized) in several processes normalizes as one process does with the whole batch."""
    words = ("normalization=synchronized", "shuffle=no", "rows=192", "batch=48", "epochs=4")
    for more in ((), ("net=masked",)):
        alone = well(0, "alone", *words, *more)
        for processes in (2, 3):
            result = well(processes, "together", *words, *more)
            for what in ("fit loss", "evaluate loss"):
                require_close(values(result, what), values(alone, what), 1e-4, result, alone)
    alone = well(0, "alone", *words)
    apart = well(2, "together", "normalization=yes", *words[1:])
    require(abs(float(values(apart, "fit loss")[0]) - float(values(alone, "fit loss")[0])) > 1e-4,
            "statistics of each process's own rows gave the same", apart, alone)


def partial_batches():
    """Batches that the processes cannot divide equally, and a batch with fewer rows than processes."""
    for rows, batch in ((103, 10), (7, 32), (2, 2), (1, 1)):
        words = (f"rows={rows}", f"batch={batch}", "shuffle=no", "epochs=3")
        alone = well(0, "alone", *words)
        for more in ((), ("dataset=yes",)):
            for processes in (2, 3):
                result = well(processes, "together", *words, *more)
                for what in ("fit loss", "fit accuracy", "evaluate loss", "evaluate accuracy"):
                    require_close(values(result, what), values(alone, what), 1e-4, result, alone)
                require(values(result, "predict")[0].split(")")[0] == values(alone, "predict")[0].split(")")[0],
                        "predictions have another shape", result, alone)
                require_close([values(result, "predict")[0].split()[2]], [values(alone, "predict")[0].split()[2]], 1e-3,
                              result, alone)


def random_layers():
    """Dropout, draws of a custom layer and BatchNormalization: shuffled equally, with the same state at the end."""
    for policy in POLICIES:
        words = ("policy=" + policy, "dropout=yes", "normalization=yes", "epochs=4", "rows=330", "batch=50")
        if policy == POLICIES[0]:
            words += ("draws=yes",)
        first = well(3, "together", *words)
        require(first.said[0] == well(3, "together", *words).said[0], "two runs differ", first)


def one_begins():
    """All processes start with the weights and the seeds of rank 0."""
    same = well(2, "together", "epochs=1")
    other = well(2, "together", "epochs=1", "1:seed=99")
    require(same.said[0] == other.said[0], "rank 1's seed had a part in the result", same, other)


def faults():
    """Overflow in the rows of one process: all processes skip, halve and continue, with the same bits."""
    for processes in (2, 4):
        result = well(processes, "faults", "policy=mixed_float16", f"steps={times * 100}", limit=900)
        skipped, _, of = values(result, "skipped")[0].partition(",")[0].partition(" of ")
        require(int(skipped) >= int(of.split()[0]) > 0, "a fault was not skipped", result)
        print(f"{processes} processes: skipped {skipped} steps, {of}")


def refused(processes, words, *texts):
    result = run(processes, "together", *words)
    require(result.code != 0, "it was not refused", result)
    for rank in range(processes):
        require(any(all(text in line for text in texts) for line in result.said[rank] if line.startswith("error ")),
                f"rank {rank} does not say {texts}", result)


def disagreement():
    """Another model, policy, optimizer or data in one process: rejected in all, with both sides."""
    refused(2, ["1:units=40"], "rank 0 has", "rank 1 has", "units 48", "units 40")
    refused(3, ["2:policy=mixed_bfloat16"], "rank 0 has", "rank 2 has", "float32", "mixed_bfloat16")
    refused(2, ["1:rows=640"], "rank 0 has x [(800, 20)", "rank 1 has x [(640, 20)")
    refused(2, ["1:epochs=9"], "rank 0 has epochs 2", "rank 1 has epochs 9")
    refused(2, ["1:accumulate=2"], "rank 0 has", "rank 1 has", "gradient_accumulation_steps")
    refused(2, ["1:checkpoint=/no/such/folder/at-{epoch}.ckpt"], "rank 0 has callbacks []", "rank 1 has callbacks [ModelCheckpoint")
    refused(2, ["1:shard=yes"], "rank 0 has", "rank 1 has", "shard_optimizer_state")


def arguments_differ():
    """Each field of each argument struct, and parts of a model: the program itself checks the errors."""
    result = well(2, limit=110)
    require(int(result.said[0][-1].split()[0]) > 140 and result.said[0][-1].endswith(" 0 failures"), "too few cases", result)


# The errors of the processes when the last one does something else: text for rank 0, and text for the last rank.
APART = {
    "rate": ("the host has set", "learning_rate"),
    "scheduler": ("the host has set", "learning_rate"),
    "set_rate": ("the host has set", "learning_rate"),
    "set_weights": ("the host has set", "kernel"),
    "batch_weights": ("train_on_batch(): a step of 16 rows", "the host has set"),
    "stop_in_batch": ("fit(): a step of 8 rows", "epoch 0 has ended after 1 steps, and training stops"),
    "stop_in_epoch": ("and training stops", "training goes on"),
    "frozen": ("the comparison of the processes", "all_reduce"),
    "rows": ("a step of 8 rows", "a step of 6 rows"),
    "length": ("a step of 8 rows", "epoch 0 has ended after 2 steps"),
    "test_length": ("a step of 8 rows", "the test data have ended after 2 batches"),
    "batch_rows": ("", "train_on_batch(): the comparison of the processes"),
    "batch_models": ("ValueError", "sequential_1"),
    "barrier_fit": ("fit(): ", "barrier() (exchange 1)"),
    "evaluate_fit": ("fit(): ", "evaluate(): "),
    "predict_fit": ("fit(): ", "predict(): "),
    "label_row": ("ValueError", "in row 15"),
}


def apart(half=0):
    """Processes that diverge after an identical start: each of them gets an error that names what both do."""
    names = [line for line in run(1, "names").said[0] if line != "ended"]
    require(sorted(names) == sorted(APART), f"other cases: {names}")
    for name, texts in list(APART.items())[half::2]:
        for processes in (2, 3) if name in ("rate", "barrier_fit") else (2,):
            result = run(processes, name)
            for rank in range(processes):
                errors = [line for line in result.said[rank] if line.startswith("error ")]
                require(len(errors) == 1 and all(text in errors[0] for text in texts) and
                        (name == "label_row" or "rank 0" in errors[0] or f"rank {rank} " in errors[0]),
                        f"{name}: rank {rank} does not say {texts}", result)


def apart_too():
    apart(1)


def joined():
    """Losses and metrics that join the rows of a batch: the values of one process, also if a process has no rows."""
    require(len(well(4, "joined").said[0]) > 12, "too few losses")


def own_loops():
    """A loop of jit() that applies the means of gradients is bit-identical to one process that computes all parts."""
    for policy in POLICIES:
        for processes in (2, 3):
            shared, parts = well(processes, "train", policy), well(0, "parts", policy, str(processes))
            require(shared.said[0] == parts.said[0], f"{policy}: {processes} processes have other weights", shared, parts)


def own_loops_refused():
    """Sums and means in jit(), and the errors of loops: all processes get errors about a difference and continue."""
    sums = well(2, "sums")
    require([line.rsplit(" ", 4)[1:] for line in values(sums, "sum")] == [[dtype, "3", mean, "1.5"] for dtype, mean in (
        ("float32", "float32"), ("float64", "float64"), ("float16", "float16"), ("bfloat16", "bfloat16"),
        ("int32", "float32"))] + [["int32", "2", "float32", "1"]], "other sums", sums)
    require(values(sums, "large") == ["true 60000"] and values(sums, "empty") == ["(0, 3) (0, 3)"] and values(sums, "slope") == ["12"] and
            [sums.said[rank][-1] for rank in (0, 1)] == ["own slope 2", "own slope 4"], "other derivatives", sums)
    require(values(well(2, "skips"), "weight") == ["[0.5, 0.75] scale 4 skipped 1"], "the step was not skipped in all")
    require(well(2, "later").said[0] == ["alone 1", "together 2"], "a program outlives set_distribution()")
    result, apart_as = well(2, "refusals"), "ValueError: The processes of this run do not agree"
    for what, *texts in (("alone", "NotImplementedError: the jit function 'step' updates", "distribution::mean()"),
                         ("shapes", apart_as, "4x3xf32", "5x3xf32"), ("after", "none"), ("formula", apart_as),
                         ("weights", "the values of variable 'net/hidden/kernel'"), ("goes on", "none")):
        require(all(text in values(result, what)[0] for text in texts), f"{what}: not {texts}", result)
    for how, *texts in (("rate", "not in step", "learning_rate"), ("shape", "not in step", "the jit function 'shared'")):
        result = run(2, "ends", how)
        for rank in (0, 1):
            require(all(text in result.said[rank][-1] for text in texts), f"{how}: rank {rank}: no {texts}", result)


def another_build():
    """A process with another build of the library: rejected in all. The other build is a copy of the program with
    another text in place of the build id. (The compiler may store the end of the text elsewhere.)"""
    build = values(well(0, "build"), "build")[0]
    with open(program, "rb") as file:
        code = file.read()
    require(len(build) > 8 and build.encode() in code, f"the program does not hold its build '{build}'")
    other = os.path.join(folder, "other")
    with open(other, "wb") as file:
        file.write(code.replace(build.encode(), b"0" * len(build)))
    os.chmod(other, 0o700)
    result = started([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "1", program, "together", ":",
                      "-n", "1", other, "together"])
    require(result.code != 0, "it was not refused", result)
    for rank in (0, 1):
        require(any(f"rank 0 has library build {build}" in line and f"rank 1 has library build 0000" in line
                    for line in result.said[rank] if line.startswith("error ")), f"rank {rank} names other builds", result)


def intervals():
    """200 steps: every step of several processes gives weights within the intervals of the interpreter's step of one
    process from the same weights, and so do the first steps together, until the interval carried through them is wider
    than 1. In a mixed policy each process rounds its sum of a gradient to 16 bits, which the interval of one process
    does not include: some weights are outside."""
    nets = [word for net in ("mlp", "cnn") for policy in POLICIES for word in (policy, net)]
    for processes in (2, 3, 4):
        result = run(processes, *nets)
        require(result.code == 0 and len(result.said[0]) == len(nets), "it failed", result)
        for line in result.said[0]:
            outside, _, elements = line.split(": ")[1].split()[:3]
            widths = float(line.split("outside, by ")[1].split()[0])
            require(int(elements) > 160, "nothing was compared", result)
            if line.startswith("float32"):
                require(outside == "0", "a weight is not in its interval", result)
            require(int(outside) <= int(elements) // 80 and widths < 0.5, "weights are far from their intervals", result)
        print(f"{processes} processes\n{result.text}")


def sharded(what, processes):
    """Processes that divide the optimizer state: the program itself compares the bits."""
    result = well(processes, what, folder, limit=110)
    require(len([line for line in result.said[0] if line.endswith("same bits")]) > 10, "too few cases", result)


sharded_optimizers, sharded_arguments_2, sharded_arguments_3, sharded_arguments_4 = (
    lambda what=what, count=count: sharded(what, count)
    for what, count in (("optimizers", 3), ("arguments", 2), ("arguments", 3), ("arguments", 4)))


def sharded_files():
    """Adam has two numbers per weight, and a divided variable has a third, its part."""
    well(1, "one", folder)
    for processes in (2, 4):
        result = well(processes, "files", folder)
        for rank in range(processes):
            own, _, whole = [line for line in result.said[rank] if line.startswith("own bytes ")][0][10:].split()
            require(int(own) < 1.01 * int(whole) * 1.5 / processes, f"rank {rank} keeps {own} bytes of {whole}", result)
        print(result.text)


def matrix():
    """Each kind of policy in two processes, compared with one process, also with a loop in the net, with one process
    that accumulates parts, with another run, with the step as hooks, and with user-defined metrics: the program itself
    compares losses, loss scale, counters, weights and logs, and names the rows that differ."""
    for what, least in (("one", 15), ("steps", 15), ("parts", 15), ("again", 15), ("hooks", 15), ("metrics", 3)):
        require(len(well(2, what).said[0]) >= least, f"{what}: too few rows")


def hooks():
    """train_step() and compute_loss() in two and three processes: bit-identical to the built-in step, with one
    process's losses and reports, and rejections in all processes. The program itself compares."""
    for least, processes, *words in ((14, 2), (14, 3), (7, 2, "sharded")):
        require(len(well(processes, *words).said[0]) >= least, f"{words}: too few cases")


def texts():
    """Models of strings in two and three processes: one process's results, a run that resumes within an epoch, and
    rejections."""
    counts = [len(well(processes, folder).said[0]) for processes in (2, 3)]
    require(counts == [6, 6], f"{counts} cases")


def leaving():
    """A process that ends by its own error: the others name it."""
    result = run(3, "together", "1:ending=throw", "1:steps=5")
    require(result.code != 0 and result.seconds < 20, "it did not end", result)
    require(any("has enough" in line for line in result.said[1]), "rank 1 has no error of its own", result)
    for rank in (0, 2):
        require(any("rank 1 has left" in line for line in result.said[rank]), f"rank {rank} does not name rank 1", result)


def silent():
    """A process that stops without exiting, and a launcher that does not notice: the others name it within the time
    limit."""
    for bound in ("nan", "2 s"):
        result = run(0, "together", HALFTONE_EXCHANGE_SECONDS=bound)
        require(result.code != 0 and f"HALFTONE_EXCHANGE_SECONDS={bound}: expected a number of seconds above 0" in result.text, "a bound is not refused", result)
    result = run(3, "together", "1:ending=stop", "1:steps=5", HALFTONE_EXCHANGE_SECONDS="2")
    require(result.code != 0 and result.seconds < 25, f"it did not end: {result.seconds:.1f} s", result)
    for rank in (0, 2):
        require(any(f"rank 1 has not answered rank {rank} for 2 seconds" in line for line in result.said[rank]),
                f"rank {rank} does not name rank 1", result)
    well(2, "together", "epochs=1", HALFTONE_EXCHANGE_SECONDS="60")
    joining = started([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "1", program, "together", ":",
                       "-n", "1", "sleep", "30"], HALFTONE_EXCHANGE_SECONDS="2")
    require(joining.code != 0 and joining.seconds < 25 and
            "some process has not joined the run for 2 seconds" in joining.text, "joining has no bound", joining)
    print(f"ended after {result.seconds:.1f} s")


def weights_differ():
    """The check of weights names the rank and the variable."""
    result = run(2, "checked", "1:ending=change", "1:steps=3")
    for rank in (0, 1):
        require(any("rank 1" in line and "kernel" in line for line in result.said[rank]), "it is not named", result)


def killed():
    """A process that is killed at a random step: mpirun ends the others with a message, and the last checkpoint can be
    loaded."""
    for seed in range(times):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        backup = os.path.join(folder, "backup")
        rank, steps = random.Random(seed).randrange(4), random.Random(seed).randrange(20, 120)
        result = run(4, "together", "epochs=100", "backup=" + backup, f"{rank}:ending=die", f"{rank}:steps={steps}",
                     "rows=640", limit=300)
        died = [float(line.split()[-1]) for line in result.said[rank] if line.startswith("dying")]
        require(result.code != 0 and len(died) == 1, "no process was killed", result)
        require(result.end - died[0] < 10, f"the others ended {result.end - died[0]:.1f} s later", result)
        require("signal 9" in result.text, "nothing says that a process was killed", result)
        again = well(2, "together", "epochs=1", "restore=" + os.path.join(backup, "latest.ckpt"))
        require(values(again, "restored"), "the checkpoint does not load", again)
    print(f"{times} processes were killed")


def files():
    """One process prints and writes; another number of processes resumes from the checkpoint."""
    name = lambda file: os.path.join(folder, file)
    result = well(3, "together", "verbose=2", "csv=" + name("log.csv"), "checkpoint=" + name("at-{epoch}.ckpt"))
    require(result.text.count("Epoch 1/2") == 1, "not one process printed", result)
    with open(name("log.csv"), encoding="utf-8") as file:
        require(len(file.readlines()) == 3, "the log has other rows", result)
    require(sorted(os.listdir(folder)) == ["at-1.ckpt", "at-2.ckpt", "log.csv"], "other files", result)
    for processes in (0, 2, 4):
        again = well(processes, "together" if processes else "alone", "epochs=2", "initial_epoch=1",
                     "restore=" + name("at-1.ckpt"))
        require_close(values(again, "fit loss"), values(result, "fit loss")[1:], 1e-3, again, result)


def barrier():
    """A file that rank 0 saves exists for all when the call returns; if it cannot be written, all get the error."""
    for what in ("checkpoint", "backup", "save"):
        result = well(3, "files", "what=" + what, "folder=" + os.path.join(folder, what))
        require(int(values(result, "loaded")[0]) == 8, "a file was not there", result)
    result = run(3, "files", "what=checkpoint", "folder=/proc/no/such/folder")
    for rank in range(3):
        require(result.code != 0 and any(line.startswith("error ") and "/proc/no/such/folder" in line
                                         for line in result.said[rank]), f"rank {rank} has no error", result)


def tool():
    """halftone-run fit --distribute mpi: one process prints and saves."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
    words = ["fit", os.path.join(source, "data/keras/archives/sequential.keras"), "--x", "8x4xf32=random", "--y", "8x2xf32=1",
             "--epochs", "3", "--batch-size", "4"]
    alone = run(0, *words)
    shared = run(2, *words, "--distribute", "mpi", "--save", os.path.join(folder, "trained.keras"))
    losses = [[line.split("loss: ")[1] for line in each.text.splitlines() if line.startswith("epoch")]
              for each in (alone, shared)]
    require(len(losses[0]) == 3, "one process alone does not print three epochs", alone)
    require_close(losses[1], losses[0], 2e-3, shared, alone)
    require(os.listdir(folder) == ["trained.keras"], "the model was not saved", shared)


def example():
    """01-mnist --data-parallel: one process prints, and the processes together learn what one process learns."""
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples/data/mnist")
    result = run(2, "--data-parallel", "--epochs", "1", "--data", data, "--timing")
    require(result.text.count("Step of rank 0: ") == 1 and "exchange  1 of " in result.text, "no timeline", result)
    accuracies = [float(line.split()[3]) for line in result.text.splitlines() if "test accuracy" in line]
    require(result.code == 0 and len(accuracies) == 1 and accuracies[0] > 0.95, "it did not learn", result)


def timeline():
    """The exchange of the first bucket begins before the last kernel of the backward pass ends, in every process."""
    result = run(2, "timeline")
    require(result.code == 0, "it failed", result)
    for rank in (0, 1):
        said = {line.split()[0]: line.split()[1:] for line in result.said[rank]}
        require(int(said["exchanges"][0]) >= 3, "there are fewer than three buckets", result)
        require(float(said["first"][0]) < float(said["last"][0]), "no exchange hides", result)
        require(int(said["kernels"][0]) > 10 and int(said["events"][0]) > 15, "rows are missing", result)
    # With divided state the gradients are sent once, in parts, and then the weights.
    divided = run(2, "timeline", "shard=yes")
    require(divided.code == 0, "it failed", divided)
    for rank in (0, 1):
        sent = dict(line[9:].split(": ") for line in divided.said[rank] if line.startswith("bytes of "))
        require(sent["reduce_scatter"] == sent["all_gather"] == sent["weights"], "other bytes", divided)
        require(int(sent.get("all_reduce sum", 0)) < 1000, "whole gradients travel", divided)


def gpu():
    """Each process trains on its own GPU, an emulated one, with the emulated NCCL, which adds in rank order: in float32
    two processes are bit-identical to one that accumulates two parts, with divided state too, and the host does not
    wait within a step. Processes that cannot join all get the reason."""
    here = {"HALFTONE_DEVICE": "cuda:0"}
    words = ("epochs=2", "shuffle=no", "rows=192", "batch=48")
    parts = well(0, "alone", *words, "split=2", "accumulate=2", **here)
    for more in ({"HALFTONE_EMULATOR_SEED": "0"}, {"HALFTONE_EMULATOR_SEED": "1"}):
        first = well(2, "together", *words, **more, **here)
        require(values(first, "weights") == values(parts, "weights"), "they differ from one that accumulates", first, parts)
    divided = run(2, "together", "shard=yes", *words, **here)  # each has its own state
    require([each.count("weights " + values(parts, "weights")[0]) for each in divided.said.values()] == [1, 1],
            "a divided state gives other bits", divided, parts)
    words = ("policy=mixed_float16", *words)
    alone = well(0, "alone", *words, **here)
    first, second = (well(2, "together", *words, **here) for _ in range(2))
    require(first.said[0] == second.said[0], "two runs differ", first, second)
    require_close(values(first, "fit loss"), values(alone, "fit loss"), 0.01, first, alone)
    counted = well(2, "steps", **here)
    require(values(counted, "waits") == ["0"] and int(values(counted, "graphs")[0]) >= 12, "the host waited", counted)
    counted = run(2, "steps", "shard=yes", **here)
    require([each.count("waits 0") for each in counted.said.values()] == [1, 1], "the host waits for parts", counted)
    skipped = well(2, "faults", "policy=mixed_float16", "steps=12", **here)
    require(values(skipped, "skipped")[0].split(" of ")[0] != "0", "no step was skipped", skipped)
    for missing, text in (("/no/such/library.so", "cannot open NCCL"), ("libc.so.6", "is not NCCL")):
        result = started([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "1", program, "together", ":",
                          "-n", "1", "env", "HALFTONE_NCCL=" + missing, program, "together"], **here)
        for rank in (0, 1):
            require(result.code != 0 and any("rank 1 reports: " in line and text in line for line in result.said[rank]),
                    f"rank {rank} does not say that rank 1 lacks NCCL", result)
    mixed = started([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "1", program, "together", ":",
                     "-n", "1", "env", "HALFTONE_DEVICE=cpu", program, "together"], **here)
    for rank in (0, 1):
        require(any("rank 0 has device a GPU, rank 1 has device the CPU" in line for line in mixed.said[rank]),
                f"rank {rank} does not name the devices", mixed)


if __name__ == "__main__":
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    globals()[test]()
