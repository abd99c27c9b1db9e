"""The checks must find what they are there for: each test makes a small bad tree and expects its one complaint."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_layers  # noqa: E402
import check_names  # noqa: E402
import check_unity  # noqa: E402

loader = importlib.machinery.SourceFileLoader("bench", str(pathlib.Path(check_names.__file__).with_name("bench")))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
loader.exec_module(bench)

TABLE = """set(RANKSCOPE_ALLOWED_core       "")
set(RANKSCOPE_ALLOWED_trainer    core)
set(RANKSCOPE_ALLOWED_analyzer   core)
set(RANKSCOPE_ALLOWED_gui        core analyzer)
set(RANKSCOPE_ALLOWED_tests      core analyzer gui)
"""


def run(script, files):
    """Exit status and output of a check on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ({"cmake/RankscopeUnity.cmake": "set(RANKSCOPE_COLD core/src/cold)\n"} | files).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = script.main([folder])
        return status, out.getvalue()


def layers(name, include, **others):
    tree = {"cmake/RankscopeModule.cmake": TABLE, name: f"// first\n#include {include}\n"}
    return run(check_layers, tree | others.get("files", {}))


class Units(unittest.TestCase):
    """Two files of a folder, each with one thing that it keeps to itself."""
    MOST = "namespace {\nint most = 1;\n}\n"

    def of(self, first, second, namespace="namespace a {\nnamespace {\n%s\n}\n}\n"):
        return run(check_unity, {"core/src/x/a.cpp": namespace % first, "core/src/x/b.cpp": namespace % second})

    def test_the_same_private_name_in_two_files_of_a_folder(self):
        for text in ("constexpr int most = 3;", "struct Part { int a = 1; };", "class Part final : public Base {};",
                     "int most(int a, const Run& run) { return a; }", "alignas(64) Part most[2] = {};",
                     "template <class T>\nint most(T a) { return a; }",
                     "void f(Words words = {}) { if (a) { b(); } }\n\nconst std::string most = FOLDER \"/x\";"):
            status, out = self.of(text, text)
            self.assertEqual(status, 1, text)
            self.assertRegex(out, r"(^|\n)(most|Part) is defined in core/src/x/a.cpp, core/src/x/b.cpp")
        self.assertEqual(self.of("int most = 1;", "struct most {};")[0], 1)

    def test_the_same_name_for_two_things_in_headers_of_a_module(self):
        for text in ("inline constexpr int most = 3;", "inline constexpr std::size_t most{4};", "struct most {\n  int a = 1;\n};", "class most final : public Base {};"):
            in_namespace = f"namespace a::b {{\n{text}\n}}\n"
            status, out = run(check_unity, {"core/src/x/a.h": in_namespace, "core/include/rankscope/core/b.h": in_namespace})
            self.assertEqual((status, out), (1, "a::b::most is defined in core/include/rankscope/core/b.h, core/src/x/a.h: the linker may take either\n"))
            self.assertEqual(run(check_unity, {"core/src/x/a.h": in_namespace, "core/src/y/b.h": in_namespace.replace("a::b", "a::c")})[0], 0)
        nested = "namespace a {\nstruct Run::most {\n};\nstruct most;\n}\n"
        self.assertEqual(run(check_unity, {"core/src/x/a.h": nested, "core/src/x/b.h": "namespace a {\nstruct most {\n};\n}\n"})[0], 0)

    def test_overloads_members_and_equal_aliases_are_fine(self):
        self.assertEqual(self.of("int most(int a) { return a; }", "int most(Run a, int b) { return b; }")[0], 0)
        self.assertEqual(self.of("using Key = std::pair<int, int>;", "using Key = std::pair<int, int>;")[0], 0)
        self.assertEqual(self.of("int A::most() { return 1; }", "int A::most() { return 1; }")[0], 0)
        self.assertEqual(self.of('const char* a = "int most = 1;";  // int most;', "int most = '{';")[0], 0)

    def test_what_others_see_or_stands_elsewhere_is_fine(self):
        self.assertEqual(self.of("int most = 1;", "int most = 1;", "namespace a {\n%s\n}\n")[0], 0)
        self.assertEqual(run(check_unity, {f"{folder}/a.cpp": self.MOST for folder in ("core/src/x", "cli/src/x")})[0], 0)
        self.assertEqual(run(check_unity, {f"tests/core/{folder}/a.cpp": self.MOST for folder in "xy"})[0], 0)

    def test_neighbouring_folders_are_compiled_together_while_they_are_small(self):
        tree = {f"core/src/{folder}/a.cpp": self.MOST for folder in "xy"}
        self.assertEqual(run(check_unity, tree)[0], 1)
        self.assertEqual(run(check_unity, tree | {f"core/src/x/b{i}.cpp": "" for i in range(31)})[0], 0)

    def test_cold_folders_are_compiled_apart(self):
        self.assertEqual(run(check_unity, {f"core/src/{folder}/a.cpp": self.MOST for folder in ("cold", "x")})[0], 0)

    def test_tables_of_all_subjects_are_compiled_together(self):
        apart = {f"analyzer/src/m{i}/a{j}.cpp": "" for i in range(2) for j in range(32)}
        tree = {"analyzer/src/a/tables.cpp": self.MOST, "analyzer/src/z/tables.cpp": self.MOST}
        self.assertEqual(run(check_unity, tree | apart)[0], 1)


class Layers(unittest.TestCase):
    def test_an_arrow_of_the_table_is_fine(self):
        self.assertEqual(layers("analyzer/src/a.cpp", '"rankscope/core/run.h"')[0], 0)

    def test_own_headers_are_fine(self):
        private = {"analyzer/src/b/b.h": ""}
        self.assertEqual(layers("analyzer/src/a.cpp", '"b/b.h"', files=private)[0], 0)
        self.assertEqual(layers("analyzer/src/c/a.cpp", '"../b/b.h"', files=private)[0], 0)
        self.assertEqual(layers("analyzer/src/a.cpp", '"rankscope/analyzer/report.h"')[0], 0)

    def test_an_arrow_backwards_is_named_with_its_line(self):
        status, out = layers("core/include/rankscope/core/a.h", '"rankscope/analyzer/report.h"')
        self.assertEqual(status, 1)
        self.assertIn("core/include/rankscope/core/a.h:2:", out)
        self.assertIn("core may not use analyzer; it may use: nothing", out)

    def test_an_unknown_module(self):
        self.assertIn("unknown module utils", layers("core/src/a.cpp", '"rankscope/utils/a.h"')[1])

    def test_private_headers_of_others(self):
        private = {"core/src/ring.h": ""}
        self.assertEqual(layers("analyzer/src/a.cpp", '"ring.h"', files=private)[0], 1)
        self.assertEqual(layers("analyzer/src/a.cpp", '"../../core/src/ring.h"', files=private)[0], 1)
        self.assertEqual(layers("analyzer/src/a.cpp", '"core/src/ring.h"', files=private)[0], 1)

    def test_qt_only_in_gui(self):
        for include in ("<QString>", "<QtCore/QString>", "<QtGlobal>"):
            self.assertIn("Qt belongs to gui", layers("analyzer/src/a.cpp", include)[1])
            self.assertEqual(layers("gui/models/src/a.cpp", include)[0], 0)
            self.assertEqual(layers("tests/gui/a.cpp", include)[0], 0)

    def test_torch_only_in_trainer(self):
        self.assertIn("libtorch belongs to trainer", layers("core/src/a.cpp", "<torch/torch.h>")[1])
        self.assertEqual(layers("trainer/src/a.cpp", "<torch/torch.h>")[0], 0)

    def test_subjects_use_only_those_before_them(self):
        table = TABLE + "set(RANKSCOPE_SUBJECTS_core low in/deep in)\n"
        tree = {f"core/src/{folder}/a.h": "" for folder in ("low", "in/deep", "in")}
        tree["core/include/rankscope/core/in/b.h"] = ""
        def order(name, include):
            return layers(name, f'"{include}"', files=tree | {"cmake/RankscopeModule.cmake": table})
        for name, include in (("in", "in/deep/a.h"), ("in/deep", "low/a.h"), ("low", "low/a.h"), (".", "in/a.h")):
            self.assertEqual(order(f"core/src/{name}/x.cpp", include)[0], 0, name)
        for name, include in (("low", "in/deep/a.h"), ("in/deep", "in/a.h"), ("low", "rankscope/core/in/b.h")):
            self.assertIn("comes after", order(f"core/src/{name}/x.cpp", include)[1])
        self.assertIn("is not in RANKSCOPE_SUBJECTS_core", order("core/src/new/x.cpp", "low/a.h")[1])

    def test_every_folder_of_a_module_with_subjects_is_one(self):
        table = {"cmake/RankscopeModule.cmake": TABLE + "set(RANKSCOPE_SUBJECTS_core low in/deep in)\n"}
        def folders(*names):
            status, out = layers("core/src/low/x.cpp", f'"{names[-1]}/a.h"', files={f"core/src/{name}/a.h": "" for name in names} | table)
            self.assertEqual(status, 1 if out.startswith("core: the folder") else 0, out)
            return out
        self.assertIn("the folder new is not in RANKSCOPE_SUBJECTS_core", folders("new"))
        self.assertIn("the folder in/other is not in RANKSCOPE_SUBJECTS_core", folders("in/other", "low"))
        self.assertNotIn("the folder", folders("in/deep", "low/part", "low"))
        public = {"core/include/rankscope/core/new/a.h": ""}
        self.assertIn("the folder new is not in", layers("core/src/low/x.cpp", '"rankscope/core/new/a.h"', files=public | table)[1])
        self.assertEqual(layers("gui/src/new/x.cpp", '"rankscope/core/low/a.h"', files=table)[0], 0, "gui has no subjects")

    def test_headers_do_not_include_themselves_through_others(self):
        tree = {"core/src/x/b.h": '#include "x/a.h"\n', "core/src/x/c.cpp": '#include "x/a.h"\n'}
        status, out = layers("core/src/x/a.h", '"x/b.h"', files=tree)
        self.assertEqual(status, 1)
        self.assertIn("a circle of includes: core/src/x/a.h -> core/src/x/b.h -> core/src/x/a.h", out)
        self.assertEqual(layers("core/src/x/a.h", '"x/d.h"', files={**tree, "core/src/x/d.h": ""})[0], 0)

    def test_folders_without_an_order_are_not_in_a_circle(self):
        tree = {f"gui/views/src/{name}.h": "" for name in ("a/x", "b/y")}
        tree["gui/views/src/a/one.cpp"] = '#include "b/y.h"\n'
        self.assertEqual(layers("gui/views/src/c/two.cpp", '"a/x.h"', files=tree)[0], 0)
        status, out = layers("gui/views/src/b/two.cpp", '"a/x.h"', files=tree)
        self.assertEqual(status, 1)
        self.assertIn("a circle of includes: gui/views/", out)

    def test_public_headers_are_short(self):
        for lines, text in ((150, ""), (151, "core/include/rankscope/core/a.h: 151 lines, more than the 150")):
            long = {"core/include/rankscope/core/a.h": "\n" * lines, "core/src/b.h": "\n" * 300}
            status, out = layers("core/src/a.cpp", '"b.h"', files=long)
            self.assertEqual(status, int(lines > 150))
            self.assertIn(text, out)

    def test_sources_are_short(self):
        for lines, text in ((400, ""), (401, "core/src/b.cpp: 401 lines, more than the 400")):
            long = {"core/src/b.cpp": "\n" * lines, "tests/core/b_test.cpp": "\n" * 900, "core/src/b.h": ""}
            status, out = layers("core/src/a.cpp", '"b.h"', files=long)
            self.assertEqual(status, int(lines > 400))
            self.assertIn(text, out)

    def test_headers_beside_the_subjects_stand_after_what_they_include(self):
        table = TABLE + "set(RANKSCOPE_SUBJECTS_core low mid high)\n"
        public = "core/include/rankscope/core"
        tree = {f"{public}/mid/section.h": "", "core/src/low/a.h": "", "cmake/RankscopeModule.cmake": table,
                f"{public}/report.h": '#include "rankscope/core/mid/section.h"\n',
                f"{public}/render.h": '#include "rankscope/core/report.h"\n', f"{public}/options.h": ""}
        def order(name, header):
            return layers(f"core/src/{name}", f'"rankscope/core/{header}"', files=tree)
        for name, header in (("mid/find.cpp", "report.h"), ("high/find.cpp", "render.h"), ("low/find.cpp", "options.h"),
                             ("low/tables.cpp", "report.h"), ("low/step_chart.cpp", "render.h"), ("low/rules.cpp", "report.h"),
                             ("low/json.cpp", "report.h"), ("x.cpp", "report.h")):
            self.assertEqual(order(name, header)[0], 0, name)
        for name in ("low/find.cpp", "low/parts.h", "low/tables.h"):
            for header in ("report.h", "render.h"):
                self.assertIn("it includes mid, which comes after low", order(name, header)[1], name)


class Names(unittest.TestCase):
    def test_paths_of_one_machine(self):
        for path in ("/home/" + "ann/x", "/Users/" + "ann/x", "/wo" + "rk/x", "/root/" + ".cache/x"):
            status, out = run(check_names, {"docs/a.md": f"one\nsee {path} there\n"})
            self.assertEqual(status, 1, path)
            self.assertIn("docs/a.md:2: path of one machine", out)

    def test_ordinary_paths(self):
        text = "build/work/x out/work /usr/lib docs/work/ https://example.org/home/x $ROOT/home/x the network/work\n"
        self.assertEqual(run(check_names, {"docs/a.md": text})[0], 0)

    def test_source_names(self):
        self.assertIn("snake_case", run(check_names, {"core/src/RunModel.cpp": ""})[1])

    def test_numbers_are_read_by_one_parser(self):
        for call in ("std::from_chars(a, b, c)", "std::stoul(text)", "atoi(text)", "strtod(text, nullptr)",
                     "text.toInt(&is_number)", "text.toULongLong(nullptr, 16)", "text.mid(1).toDouble(&ok)",
                     "std::istringstream{text} >> x"):
            status, out = run(check_names, {"cli/src/a.cpp": f"\nx = {call};\n"})
            self.assertEqual(status, 1, call)
            self.assertIn("cli/src/a.cpp:2: ", out)
        for name, text in {"core/src/numbers.cpp": "from_chars(a)", "tests/core/a.cpp": "std::stoi(a)",
                           "trainer/src/launch/cpu_features.cpp": "std::istringstream words{text};",
                           "gui/src/a.cpp": "x = value.toInt() + json.toDouble( ) + a.toInteger(b);",
                           "cli/src/a.cpp": "store(a); history(b); a.stop(); std::ostringstream{} << a;"}.items():
            self.assertEqual(run(check_names, {name: text})[0], 0, name)


    def test_there_is_one_median(self):
        for line in ("high = values[values.size() / 2];", "low = values[values.size() / 2 - 1];", "rows[(rows.size() - 1) / 2]",
                     "const auto middle = a.begin() + std::ssize(a) / 2;", "a.begin() + static_cast<std::ptrdiff_t>(a.size() / 2)"):
            status, out = run(check_names, {"gui/models/src/a.cpp": f"\n{line}\n"})
            self.assertEqual(status, 1, line)
            self.assertIn("gui/models/src/a.cpp:2: ", out)
            self.assertEqual(run(check_names, {"core/src/median.cpp": line, "tests/core/a.cpp": line})[0], 0)
        self.assertEqual(run(check_names, {"core/src/a.cpp": "reserve(text.size() / 2); half = a.size() / 2; a[i / 2];"})[0], 0)


class Bench(unittest.TestCase):
    times = {"read/fast": 10.0}

    def test_a_budget_without_a_benchmark_is_named(self):
        self.assertEqual(bench.orphans(self.times, {"read/fast": 20, "read/renamed": 20}, "."), ["read/renamed"])

    def test_budgets_that_the_filter_leaves_out_are_not_missed(self):
        self.assertEqual(bench.orphans(self.times, {"push": 20}, "read"), [])


if __name__ == "__main__":
    unittest.main()
