#include "rankscope/trainer/options/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "rankscope/core/choices.h"
#include "rankscope/core/command_line.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
namespace {

template <class Enum>
using Names = std::map<std::string, Enum>;

static_assert(choices::models.size() == static_cast<std::size_t>(ModelKind::efficientnet) + 1);
const Names<ModelKind> model_names = [] {
  Names<ModelKind> names;
  for (std::size_t i = 0; i < choices::models.size(); ++i) names.emplace(choices::models[i], static_cast<ModelKind>(i));
  return names;
}();
const Names<Scale> scale_names{{"tiny", Scale::tiny}, {"full", Scale::full}};
const Names<OptimizerKind> optimizer_names{{"sgd", OptimizerKind::sgd}, {"adamw", OptimizerKind::adamw}};
const Names<RateSchedule> rate_names{
    {"constant", RateSchedule::constant}, {"linear", RateSchedule::linear}, {"cosine", RateSchedule::cosine}};
const Names<DataType> dtype_names{{"f32", DataType::f32}, {"f64", DataType::f64}, {"bf16", DataType::bf16}};
const Names<DeviceWish> device_names{
    {"auto", DeviceWish::automatic}, {"cpu", DeviceWish::cpu}, {"cuda", DeviceWish::cuda}};
const Names<DdpImplementation> ddp_names{{"own", DdpImplementation::own}, {"c10d", DdpImplementation::c10d}};

// The text of an option that is read after CLI11 is done, so that its errors are our sentences.
struct Raw {
  std::string mode = "ddp";
  std::string pace = "auto";
  std::string lengths = "full";
  std::vector<std::string> faults;
  double timeout = 30;
};

template <class Enum>
void add_choice(CLI::App& app, const std::string& flag, Enum& value, const Names<Enum>& names,
                const std::string& text) {
  std::string list;
  for (const auto& [name, unused] : names) list += (list.empty() ? "" : "|") + name;
  app.add_option_function<std::string>(
         flag, [&value, &names](const std::string& name) { value = names.at(name); }, text)
      ->check(CLI::IsMember(names).description(""))  // the type lists them
      ->type_name(list);
}

/// "; gpt with tp"
std::string other_default_models() {
  std::string text;
  for (const ModeTraits& mode : all_modes())
    if (mode.model != ModelKind::mlp) text += format("; {} with {}", name_of(mode.model), mode.name);
  return text;
}

void add_model_options(CLI::App& app, TrainOptions& o) {
  add_choice(app, "--model", o.model.kind, model_names, "model to train (default mlp" + other_default_models() + ")");
  add_choice(app, "--scale", o.model.scale, scale_names, "size of the model (default tiny)");
  app.add_option("--layers", o.model.layers,
                 "layers of gpt or mlp (default: set by --scale, but at least two per stage; in mp and ddp+mp, at "
                 "least two per device)")
      ->check(within<int>({1, 1000}));
  app.add_option("--hidden", o.model.hidden, "width of gpt or mlp (default: set by --scale)")
      ->check(within<int>({1, 65536}));
  app.add_option("--heads", o.model.heads,
                 "attention heads of gpt (default: set by --scale, but in tp and tp+sp at least one per rank)")
      ->check(within<int>({1, 1024}));
  app.add_option("--seq", o.model.sequence, "tokens per sample of gpt (default: set by --scale)")
      ->check(within<int>({1, 65536}));
  app.add_flag("--unused-head", o.model.unused_head,
               "add a second output layer (head) to mlp and leave it out in odd steps (needs --find-unused)");
}

void add_training_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--steps", o.steps, "steps to train (default: as many as --epochs needs if it is given, otherwise 20)")
      ->check(within<int>({1, 1000000000}));
  app.add_option("--epochs", o.epochs, "number of passes over the data; --steps can end the run earlier")
      ->check(within<int>({1, 1000000}));
  auto* global = app.add_option("--global-batch", o.global_batch,
                                "samples per step, for all ranks together (default: follows from --batch-per-device)");
  auto* device = app.add_option("--batch-per-device", o.batch_per_device,
                                "samples per micro-step and device (default 8; in pp and 3d, 4 per micro-batch)");
  global->check(within<int>({1, 1 << 24}))->excludes(device);
  device->check(within<int>({1, 1 << 24}));
  app.add_option("--accumulate", o.accumulate,
                 "micro-steps per step; gradients are reduced in the last one (in zero2 and zero3, in every one)")
      ->capture_default_str()
      ->check(within<int>({1, 4096}));
  add_choice(app, "--optimizer", o.optimizer.kind, optimizer_names, "optimizer (default sgd)");
  app.add_option("--lr", o.optimizer.learning_rate, "learning rate (default: 0.05 for sgd, 0.001 for adamw)")
      ->check(CLI::PositiveNumber);
  add_choice(app, "--lr-schedule", o.optimizer.rate.schedule, rate_names,
             "how the learning rate changes over the steps (default constant)");
  app.add_option("--warmup-steps", o.optimizer.rate.warmup,
                 "steps over which the learning rate rises to its full value")
      ->capture_default_str()
      ->check(within<int>({0, 1000000000}));
  app.add_option("--momentum", o.optimizer.momentum, "momentum of sgd; adamw has its own")
      ->capture_default_str()
      ->check(within<double>({0.0, 1.0}));
  app.add_option("--weight-decay", o.optimizer.weight_decay, "weight decay")
      ->capture_default_str()
      ->check(within<double>({0.0, 1.0}));
  add_choice(app, "--dtype", o.dtype, dtype_names,
             "type of parameters and activations (default f32); bf16 is mixed precision: layers compute in bf16; "
             "parameters, gradients and optimizer state stay f32");
  app.add_option("--seed", o.seed, "seed of parameters, generated data and sample order")->capture_default_str();
  app.add_option("--log-every", o.log_every, "steps between two progress lines")
      ->capture_default_str()
      ->check(within<int>({1, 1000000}));
  app.add_option("--threads", o.threads, "compute threads of each rank")
      ->capture_default_str()
      ->check(within<int>({1, 1024}));
}

void add_data_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--data", o.data.folder,
                 "folder with CIFAR-10/100 binary or IDX (MNIST) files (default: generated data)");
  app.add_option("--dataset", o.data.dataset,
                 "data set to use if the folder contains several: cifar10, cifar100 or mnist");
  app.add_option("--samples", o.data.samples, "number of generated samples")
      ->capture_default_str()
      ->check(within<int>({1, 1 << 30}));
  app.add_option("--loader-workers", o.data.workers, "loader threads of each rank")
      ->capture_default_str()
      ->check(within<int>({1, 64}));
}

void add_parallel_options(CLI::App& app, TrainOptions& o, Raw& raw) {
  app.add_option("--parallel", raw.mode, "how the work is shared: " + mode_summaries())->capture_default_str();
  app.add_option("--ranks", o.launch.ranks,
                 "training processes on this machine (default: set by the launcher, otherwise 1)")
      ->check(within<int>({1, 4096}));
  app.add_option("--devices", o.devices,
                 format("devices of each process in {} (default 2); on the CPU, each device is a thread",
                        modes_that_take(ModeOption::devices)))
      ->check(within<int>({1, 64}));
  add_choice(app, "--device", o.device.wish, device_names,
             "train on GPUs (NCCL) or on the CPU (Gloo); auto (default) uses GPUs if there is one for each rank");
  app.add_flag("--share-gpu", o.device.share_gpu,
               "let ranks of this machine share GPUs (with --device cuda): a way to test the trainer, but not to "
               "measure its speed");
  add_choice(app, "--ddp-impl", o.ddp.implementation, ddp_names,
             "gradient reducer: the trainer's own or PyTorch's (default own)");
  app.add_option("--bucket-mb", o.ddp.bucket_mb, "gradient bucket size in MiB (default 25; 0.5 for tiny models)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--find-unused", o.ddp.find_unused, "accept parameters that get no gradient in a step");
  app.add_flag("--broadcast-buffers,!--no-broadcast-buffers", o.ddp.broadcast_buffers,
               "copy buffers (BatchNorm statistics) from rank 0 to all ranks in each step (default on)");
  app.add_flag("--sync-bn", o.sync_batch_norm,
               "BatchNorm computes its statistics from the samples of all ranks (SyncBatchNorm); the mode tile always "
               "does this");
}

void add_pipeline_options(CLI::App& app, TrainOptions& o) {
  PipelineOptions& pipeline = o.pipeline;
  app.add_option("--schedule", pipeline.schedule,
                 "order of work in a pipeline: gpipe, 1f1b (default), interleaved, zb-h1, zb-interleaved, zb-v, "
                 "or a CSV file with one line of actions per rank, such as 0F0,0B0");
  app.add_option("--micro-batches", pipeline.micro_batches,
                 "micro-batches per step of a pipeline (default: two per rank, or as in the CSV file)")
      ->check(within<int>({1, 4096}));
  app.add_option("--chunks", pipeline.chunks,
                 "stages per rank in a pipeline (default: 2 if the schedule needs several, otherwise 1)")
      ->check(within<int>({1, 64}));
  app.add_option(
      "--split", pipeline.split,
      "how many blocks of the model each stage or device has, such as 2,1,3 (default: balanced by their work)");
  app.add_option("--write-schedule", pipeline.write_schedule, "write the schedule of the pipeline to this CSV file");
}

void add_tile_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--tiles", o.tile.grid, "rows x columns of tiles, such as 2x2 (default: one row per rank)");
  app.add_option_function<std::string>(
         "--halo", [&o](const std::string& value) { o.tile.exchange_halos = value == "on"; },
         "whether tiles exchange their borders (default on); off gives wrong results and is only for demonstration")
      ->check(CLI::IsMember({"on", "off"}).description(""))
      ->type_name("on|off");
}

void add_checkpoint_options(CLI::App& app, TrainOptions& o) {
  CheckpointOptions& checkpoints = o.checkpoints;
  app.add_option("--checkpoints", checkpoints.folder,
                 "folder for checkpoints, shared by all machines; a checkpoint is saved at the end of the run");
  app.add_option("--save-every", checkpoints.every, "also save every N steps")->check(within<int>({1, 1000000000}));
  app.add_option("--keep", checkpoints.keep, "number of checkpoints to keep")
      ->capture_default_str()
      ->check(within<int>({1, 1000}));
  app.add_flag(
      "--resume", [&checkpoints](std::int64_t) { checkpoints.resume = Resume::yes; },
      "resume from the latest checkpoint; ddp and zero1 to zero3 may use a different number of ranks");
  app.add_option("--restarts", o.launch.restarts,
                 "how many times to restart all ranks if one is lost (from the latest checkpoint if there is one)")
      ->capture_default_str()
      ->check(within<int>({0, 1000}));
}

void add_validation_options(CLI::App& app, TrainOptions& o) {
  app.add_option(
         "--validate-every", o.validation.every,
         "steps between two validation passes over samples not used for training; a pass also follows the last step")
      ->check(within<int>({1, 1000000000}));
  app.add_option("--validation-samples", o.validation.samples,
                 "samples per validation pass (default: 512, or all if there are fewer)")
      ->check(within<int>({1, 1 << 30}));
  app.add_option("--check-replicas", o.check_replicas,
                 "steps between two checks that all copies of the model are equal (default: only before checkpoints)")
      ->check(within<int>({1, 1000000000}));
}

void add_mesh_options(CLI::App& app, TrainOptions& o) {
  MeshOptions& mesh = o.mesh;
  app.add_option(
         "--dp", mesh.shape.data,
         "copies of the model with --parallel 3d (default: number of ranks divided by the product of --tp and --pp)")
      ->check(within<int>({1, 65536}));
  app.add_option("--tp", mesh.shape.tensor, "with --parallel 3d, number of ranks that share each layer (default 1)")
      ->check(within<int>({1, 65536}));
  app.add_option("--pp", mesh.shape.pipeline, "ranks of each pipeline with --parallel 3d (default 1)")
      ->check(within<int>({1, 65536}));
  app.add_flag(
      "--sequence-parallel", [&mesh](std::int64_t) { mesh.sequence = SequenceParallel::yes; },
      "with --parallel 3d, ranks that share layers also share the sequence (like tp+sp)");
  app.add_flag("--zero1", mesh.zero1,
               "with --parallel 3d, each copy keeps only a shard of the optimizer state (like zero1)");
}

void add_launch_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--nnodes", o.launch.nodes, "number of machines; start the trainer once on each")
      ->capture_default_str()
      ->check(within<int>({1, 65536}));
  app.add_option("--node-rank", o.launch.node_rank, "index of this machine, starting at 0")
      ->capture_default_str()
      ->check(within<int>({0, 65535}));
  app.add_option("--master-addr", o.launch.master_address, "address of machine 0")->capture_default_str();
  app.add_option("--master-port", o.launch.master_port, "port on machine 0 (default: a free one)")
      ->check(within<int>({1, 65535}));
  app.add_option("--log-dir", o.launch.log_folder, "folder for one log file per rank");
  app.add_flag("--bind-cpus", o.launch.bind_cpus,
               "bind each rank of this machine to its own cores; needs ranks x --threads cores");
}

void add_raw_options(CLI::App& app, TrainOptions& o, Raw& raw) {
  app.add_option("--pace", raw.pace,
                 "nominal compute time of a step: milliseconds, auto (measured) or off. A rank that computes faster "
                 "waits until this time has passed. The default is auto if there are more ranks than cores, so that "
                 "ranks do not disturb one another; otherwise it is off. On GPUs, auto means off")
      ->capture_default_str();
  app.add_option("--seq-dist", raw.lengths,
                 "lengths of gpt's samples in tokens, at most --seq: full (all of length --seq), "
                 "uniform:SHORTEST-LONGEST or lognormal:MEDIAN,SIGMA. Unequal lengths give the ranks unequal work")
      ->capture_default_str();
  app.add_option("--fault", raw.faults, "inject a fault (repeatable): " + fault_forms())
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--timeout", raw.timeout, "seconds to wait for a rank that does not answer")
      ->capture_default_str()
      ->check(within<double>({1.0, 86400.0}));
  app.add_option(
      "--dump-gradients", o.dump_gradients,
      "let rank 0 write the losses and gradients of each step to this file; an existing file is overwritten");
}

Result<PaceOptions> parse_pace(const std::string& text, bool given) {
  if (text == "auto") return PaceOptions{PaceMode::automatic, given, 0};
  if (text == "off") return PaceOptions{PaceMode::off, given, 0};
  const auto value = number_from<double>(text, {.least = 0, .most = 600000});
  if (!value || *value == 0)
    return fail(ErrorKind::usage, format("--pace {}: must be milliseconds (above 0, up to 600000), auto or off", text));
  return PaceOptions{PaceMode::fixed, given, *value};
}

Result<void> read_raw(TrainOptions& options, const Raw& raw, bool pace_given) {
  RS_TRY(options.pace, parse_pace(raw.pace, pace_given));
  RS_TRY(options.data.lengths, parse_sequence_lengths(raw.lengths));
  options.timeout = std::chrono::seconds{static_cast<std::int64_t>(raw.timeout)};
  for (const auto& text : raw.faults) {
    RS_TRY(Fault fault, parse_fault(text));
    options.faults.push_back(fault);
  }
  return check_together(options);
}

/// The list of options without usage and head, for a program that has a help of its own.
std::string options_text(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const bool own = option == app.get_help_ptr() || option == app.get_version_ptr();
    option->group(own ? "" : "Options of the trainer");
  }
  return HelpText{}.make_groups(&app, CLI::AppFormatMode::All);
}

}  // namespace

std::string convolutional_models() {
  std::string list;
  for (const auto& [name, kind] : model_names)
    if (is_convolutional(kind)) list += (list.empty() ? "" : ", ") + name;
  return list;
}

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  TrainOptions& options = line.options;
  Raw raw;
  CLI::App app{"Trains a model on several ranks: a job with known behaviour for rankscope to analyze.",
               "rankscope-train"};
  app.formatter(std::make_shared<HelpText>());
  app.set_version_flag("--version", RANKSCOPE_VERSION);
  app.add_flag("--explain", line.explains,
               "do not train; print how much memory each rank would need and how much it would send in a step");
  bool only_options = false;
  bool only_modes = false;
  app.add_flag("--list-modes", only_modes, "print the parallel modes, one per line, with tabs between the fields");
  app.add_flag("--help-options", only_options, "for `rankscope train --help`")->group("");
  add_parallel_options(app, options, raw);
  add_model_options(app, options);
  add_training_options(app, options);
  add_data_options(app, options);
  add_pipeline_options(app, options);
  add_tile_options(app, options);
  add_mesh_options(app, options);
  add_checkpoint_options(app, options);
  add_validation_options(app, options);
  add_launch_options(app, options);
  add_raw_options(app, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
  } catch (const CLI::CallForVersion&) {
    line.text = std::string{"rankscope-train "} + RANKSCOPE_VERSION + "\n";
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    if (const auto colon = message.find(": must be "); colon != std::string::npos) message.erase(colon, 1);
    return fail(ErrorKind::usage, format("{} (--help lists the options)", message));
  }
  if (only_options) line.text = options_text(app);
  if (only_modes) line.text = mode_lines();
  if (line.text) return line;
  RS_TRY(options.mode, find_mode(raw.mode));
  if (app.count("--model") == 0) options.model.kind = options.mode->model;
  if (options.optimizer.kind == OptimizerKind::adamw && app.count("--momentum") > 0)
    return fail(ErrorKind::usage, "--momentum is for --optimizer sgd; adamw has its own");
  RS_TRY_VOID(read_raw(options, raw, app.count("--pace") > 0));
  if (options.steps == 0 && options.epochs == 0) options.steps = 20;
  if (options.devices == 0) options.devices = options.mode->devices == DeviceUse::one ? 1 : 2;
  if (options.optimizer.learning_rate == 0) {
    options.optimizer.learning_rate = options.optimizer.kind == OptimizerKind::sgd ? 0.05 : 0.001;
  }
  return line;
}

Result<BatchSizes> batch_sizes(const TrainOptions& options, int devices, std::int64_t usual) {
  const std::int64_t parts = std::int64_t{devices} * options.accumulate;
  if (options.global_batch == 0) {
    const std::int64_t per_device = options.batch_per_device > 0 ? options.batch_per_device : usual;
    return BatchSizes{per_device * parts, per_device};
  }
  if (options.global_batch % parts != 0) {
    return fail(ErrorKind::usage,
                format("--global-batch {} cannot be divided evenly among {} x {} = {} parts; use {} or {}",
                       options.global_batch, counted(devices, "device"), counted(options.accumulate, "micro-step"),
                       parts, std::max<std::int64_t>(1, options.global_batch / parts) * parts,
                       (options.global_batch / parts + 1) * parts));
  }
  return BatchSizes{options.global_batch, options.global_batch / parts};
}

bool is_convolutional(ModelKind kind) { return kind != ModelKind::mlp && kind != ModelKind::gpt; }
bool splits_sequence(const TrainOptions& options) {
  const SequenceParallel sequence = options.mode->work == Work::mesh ? options.mesh.sequence : options.mode->sequence;
  return sequence == SequenceParallel::yes;
}

std::string name_of(ModelKind kind) {
  return std::ranges::find(model_names, kind, &Names<ModelKind>::value_type::second)->first;
}
std::string name_of(DataType type) {
  return std::ranges::find(dtype_names, type, &Names<DataType>::value_type::second)->first;
}

}  // namespace rankscope::trainer
