#!/usr/bin/env python3
# Uses the installed package as users do: each command below is one test, run after `install`.
# SPDX-License-Identifier: Apache-2.0
"""Usage: installed_package.py COMMAND COMPILER SOURCE_DIR BUILD_DIR CONFIG

  install         installs the build into a fresh prefix below BUILD_DIR
  find-package    configures, builds and runs tests/consume/app with COMPILER
  refuse-version  find_package(Halftone 0.1) must fail with the reason
  pkg-config      the same program through pkg-config, from the prefix moved elsewhere
  components      the components contain each file once, and the one that runs programs needs none of the others
  developer       builds the installed examples/developer with COMPILER: halftone-opt loads the plugin, and the project's own opt tool runs
  documentation   the prefix has every page, and links between pages resolve
  surface         the contents of the prefix, the exports of the library, and that no third-party package is named
"""
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys


def run(*command, fails=False, **options):
    """Runs a command and returns its output; ends the test if it fails (or, with fails, if it does not)."""
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    print(done.stdout, flush=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"exit status {done.returncode}; expected {'a failure' if fails else '0'}")
    return done.stdout


def expect(condition, text):
    if not condition:
        sys.exit(text)


class Package:
    def __init__(self, compiler, source, build, config):
        self.compiler = compiler
        self.app = os.path.join(source, "tests", "consume", "app")
        self.headers = os.path.join(source, "include", "halftone")
        self.docs = os.path.join(source, "docs")
        self.build = build
        self.config = config
        self.work = os.path.join(build, "tests", "consume")
        self.prefix = os.path.join(self.work, "prefix")
        self.extension = os.path.join(self.prefix, "share", "halftone", "examples", "developer")

    def fresh(self, name):
        folder = os.path.join(self.work, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def library_folder(self, prefix):
        found = glob.glob(os.path.join(prefix, "lib*", "**", "libhalftone.so"), recursive=True)
        expect(len(found) == 1, f"found {found}; expected one libhalftone.so below {prefix}")
        return os.path.dirname(found[0])

    def install(self):
        self.fresh("prefix")
        run("cmake", "--install", self.build, "--prefix", self.prefix, "--config", self.config)

    def configure(self, folder, version, project=None, **options):
        return run("cmake", "-G", "Ninja", "-S", project or self.app, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DHALFTONE_WANTED={version}", f"-DCMAKE_CXX_COMPILER={self.compiler}", **options)

    def find_package(self):
        folder = self.fresh("find-package")
        self.configure(folder, "0.2")
        run("cmake", "--build", folder)
        run(os.path.join(folder, "app"))

    def developer(self):
        folder = self.fresh("developer")
        self.configure(folder, "0.2", self.extension)
        run("cmake", "--build", folder)
        plugin = os.path.join(folder, "libcount-casts.so")
        opt = [os.path.join(self.prefix, "bin", "halftone-opt"), f"--load-pass-plugin={plugin}",
               os.path.join(self.extension, "casts.mlir")]
        counted = run(*opt, "--pass-pipeline=builtin.module(count-casts)")
        expect("14 casts, 13 of kind rounding" in counted, "expected the plugin to find 14 of 14 casts")
        counted = run(*opt, "--pass-pipeline=builtin.module(halftone-insert-casts,count-casts)")
        expect("16 casts, 15 of kind rounding" in counted, "expected the plugin to find the casts that halftone-opt made")
        own = run(os.path.join(folder, "own-opt"), opt[-1], "--halftone-insert-casts", "--canonicalize")
        expect(own.count("halftone.cast ") == 16, "expected the own opt tool to parse, to run a pass and to print 16 casts")

    def refuse_version(self):
        output = self.configure(self.fresh("refuse-version"), "0.1", fails=True)
        reason = re.search(r'compatible\s+with\s+requested\s+version\s+"0\.1"', output)
        expect(reason, "expected the reason: the version asked for")

    def pkg_config(self):
        folder = self.fresh("pkg-config")
        moved = os.path.join(folder, "moved")
        shutil.copytree(self.prefix, moved, symlinks=True)
        libraries = self.library_folder(moved)
        environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(libraries, "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "halftone", env=environment).split()
        expect("-lhalftone" in flags, "expected -lhalftone")
        expect(not any("LLVM" in flag or "MLIR" in flag for flag in flags), "expected no LLVM")
        expect(not any(flag.startswith("-std=") for flag in flags), "expected the program to choose its standard")
        program = os.path.join(folder, "app")
        for standard in ("c++20", "c++23"):
            run(self.compiler, f"-std={standard}", os.path.join(self.app, "main.cpp"), "-o", program, *flags,
                f"-Wl,-rpath,{libraries}")
            run(program)

    def surface(self):
        libraries = self.library_folder(self.prefix)
        chain = [os.path.join(libraries, f"libhalftone.so{suffix}") for suffix in ("", ".0.2", ".0.2.0")]
        expect(all(map(os.path.exists, chain)), f"expected {chain}")
        expect(len(set(map(os.path.realpath, chain))) == 1 and os.path.islink(chain[1]), "expected links to .so.0.2.0")
        dynamic = run("readelf", "-d", chain[2])
        expect(re.search(r"SONAME.*\[libhalftone\.so\.0\.2\]", dynamic), "expected the SONAME libhalftone.so.0.2")

        installed = sorted(os.listdir(os.path.join(self.prefix, "include", "halftone")))
        public = sorted(name for name in os.listdir(self.headers) if name.endswith(".h"))
        expect(installed == public, f"installed {installed}; expected all public headers, {public}")
        folders = sorted(os.listdir(os.path.join(self.prefix, "include")))
        expect(folders == ["halftone", "halftone-developer"], f"found {folders}; expected users' headers and developers' apart")
        expect(not glob.glob(os.path.join(self.prefix, "**", "*.a"), recursive=True), "expected no static library")

        symbols = [line.split()[-1] for line in run("nm", "--dynamic", "--defined-only", chain[2]).splitlines()]
        foreign = [s for s in symbols if not re.match(r"_Z(T[ISTV]|Thn\d+_)?N[KRO]*8halftone", s)]
        expect(not foreign, "expected only halftone:: to be exported, found:\n" + "\n".join(foreign[:20]))
        inner = [s for s in symbols if re.search(r"N[KRO]*8halftone(8compiler|7dialect)", s)]
        expect(not inner, "expected the rooms to stay hidden, found:\n" + "\n".join(inner[:20]))

        for path in glob.glob(os.path.join(libraries, "cmake", "Halftone", "*")):
            if os.path.basename(path).startswith("HalftoneDeveloper"):
                continue
            with open(path, encoding="utf-8") as file:
                named = re.findall(r"LLVM|MLIR|fmt|nlohmann|halftone_\w+|pcre2", file.read())
            expect(not named, f"{path} names {sorted(set(named))}; expected no other package or target")

    def documentation(self):
        folder = os.path.join(self.prefix, "share", "doc", "halftone")
        pages = sorted(name for name in os.listdir(self.docs) if name.endswith(".md"))
        installed = sorted(name for name in os.listdir(os.path.join(folder, "docs")) if name.endswith(".md"))
        expect(installed == pages and pages, f"installed {installed}; expected all pages, {pages}")
        for page in ["README.md", *(os.path.join("docs", name) for name in pages)]:
            with open(os.path.join(folder, page), encoding="utf-8") as file:
                links = re.findall(r"\]\(((?:\.\./)?(?:[\w-]+/)?[\w-]+\.(?:md|svg))[)#]", file.read())
            lost = [link for link in links if not os.path.exists(os.path.join(folder, os.path.dirname(page), link))]
            expect(not lost, f"{page} links {lost}; expected links to installed pages")

    def components(self):
        def files(folder):
            return {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}

        held = {}
        parts = ("runtime", "development", "developer", "mpi")
        for component in parts:
            folder = self.fresh(f"component-{component}")
            run("cmake", "--install", self.build, "--prefix", folder, "--config", self.config, "--component", component)
            held[component] = files(folder)
        for one, other in itertools.combinations(parts, 2):
            both = held[one] & held[other]
            expect(not both, f"{one} and {other} have {sorted(both)}; expected each file in one component")
        missing = files(self.prefix).difference(*held.values())
        expect(not missing, f"no component has {sorted(missing)}")
        of_mpi = held["mpi"] - {os.path.join("libexec", "halftone", "libhalftone-mpi.so")} # empty if no MPI was found
        expect(not of_mpi, f"mpi has {sorted(of_mpi)} besides the library that sends messages")
        names = sorted(map(os.path.basename, held["runtime"]))
        tools = ["halftone-bytecode", "halftone-h5", "halftone-lsp-server", "halftone-opt", "halftone-policy", "halftone-reduce", "halftone-run"]
        libraries = [f"lib{name}.so.{version}" for name in ("HalftoneDialect", "HalftonePasses", "halftone") for version in ("0.2", "0.2.0")]
        expect(names == tools + libraries, f"runtime has {names}; expected {tools} and {libraries}")


COMMANDS = {"components": Package.components, "developer": Package.developer, "documentation": Package.documentation, "install": Package.install, "find-package": Package.find_package, "refuse-version": Package.refuse_version,
            "pkg-config": Package.pkg_config, "surface": Package.surface}

if __name__ == "__main__":
    if len(sys.argv) != 6 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](Package(*sys.argv[2:]))
