import re, subprocess, sys
from pathlib import Path
tree = Path(sys.argv[1]).resolve(); U = tree / "tests/unit"
A = "analysis/"
M = {
"analysis/test_engine_first":"analysis/test_diagnose","analysis/test_engine_degenerate":"analysis/test_diagnose_degenerate","analysis/test_engine_accuracy":"analysis/test_diagnose_accuracy",
"analysis/test_memory_of_an_account":"analysis/test_report_builder_memory",
"analysis/test_engine_changes":"analysis/stats/test_change_points","analysis/test_engine_placement":"analysis/stats/test_segments","analysis/test_engine_repeats":"analysis/stats/test_periods","analysis/test_in_blocks":"analysis/stats/test_stats_in_blocks",
"analysis/test_coverage_and_headline":"analysis/text/test_coverage","analysis/test_forecast":"analysis/text/test_forecast",
"analysis/test_recorded_samples":"analysis/prepare/test_recorded_run","analysis/test_workers":"analysis/prepare/test_workers",
"analysis/test_engine_accounts":"analysis/ledger/test_measured_accounts","analysis/test_engine_signals":"analysis/ledger/test_contention","analysis/test_engine_own_work":"analysis/ledger/test_run_queue","analysis/test_engine_starved":"analysis/ledger/test_input_contention","analysis/test_verdict":"analysis/ledger/test_balance","analysis/test_engine_named":"analysis/ledger/test_balance_causes",
"analysis/test_engine_core":"analysis/residual/test_residual","analysis/test_engine_cooling":"analysis/residual/test_warm_up_end",
"analysis/test_rules_are_complete":"analysis/causes/test_match","analysis/test_rules_of_suspects":"analysis/causes/test_suspects","analysis/test_rules_of_moving":"analysis/causes/test_suspects_moving",
"analysis/test_rules_of_captures":"analysis/causes/common/test_captures","analysis/test_rules_of_accounts":"analysis/causes/common/test_timing_text","analysis/test_rules_of_devices":"analysis/causes/common/test_pressure",
"analysis/test_rules_of_planned":"analysis/causes/workload/test_scheduled","analysis/test_rules_between_epochs":"analysis/causes/workload/test_scheduled_between_epochs","analysis/test_larger_batches":"analysis/causes/workload/test_more_work","analysis/test_rebuilt_step":"analysis/causes/workload/test_more_work_rebuilt",
"analysis/test_rule_of_warm_up":"analysis/causes/startup/test_warm_up","analysis/test_rule_of_retracing":"analysis/causes/compile/test_retracing","analysis/test_account_retracing":"analysis/causes/compile/test_retracing_account","analysis/test_rules_of_predict":"analysis/causes/compile/test_retracing_predict","analysis/test_rules_of_growth":"analysis/causes/compile/test_graph_growth",
"analysis/test_rules_of_input":"analysis/causes/data/test_input_pipeline","analysis/test_ends_of_passes":"analysis/causes/data/test_iterator_teardown","analysis/test_rules_of_kept_tensors":"analysis/causes/memory/test_tensor_retention","analysis/test_rules_of_waits":"analysis/causes/saving/test_checkpointing",
"analysis/test_rules_of_the_machine":"analysis/causes/machine/test_cpu_contention","analysis/test_rule_of_profiling":"analysis/causes/machine/test_profiling","analysis/test_rule_of_python_work":"analysis/causes/machine/test_python_overhead","analysis/test_eager_steps":"analysis/causes/machine/test_python_overhead_eager","analysis/test_rule_of_optimizers":"analysis/causes/model/test_optimizer_state",
"analysis/test_timeline":"analysis/views/test_timeline","analysis/test_changed":"analysis/views/test_range_comparison","analysis/test_retraces":"analysis/views/test_retraces_view","analysis/test_comparison":"analysis/compare/test_comparison","analysis/test_engine_live":"analysis/live/test_debounce","analysis/test_engine_carried_on":"analysis/live/test_follow",
"collectors/test_allocator":"collectors/memory/test_allocator","collectors/test_any_moment":"collectors/python/test_stacks_any_moment","collectors/test_captures":"collectors/saving/test_profiler_captures","collectors/test_communication":"collectors/test_distributed","collectors/test_evaluations":"collectors/keras/test_model_calls_evaluate","collectors/test_garbage":"collectors/python/test_garbage","collectors/test_graph_account":"collectors/graph_timing/test_graph_account","collectors/test_graph_size":"collectors/tracing/test_graph_size","collectors/test_graph_wait":"collectors/graph_timing/test_graph_wait","collectors/test_input_stages":"collectors/input/test_stages","collectors/test_input_wait":"collectors/input/test_wait","collectors/test_input_wait_readings":"collectors/input/test_wait_readings","collectors/test_iterator_lifetime":"collectors/input/test_wait_iterator_lifetime","collectors/test_keras_batches":"collectors/input/test_batch_shapes","collectors/test_keras_callbacks":"collectors/keras/test_callbacks","collectors/test_live_tensors":"collectors/memory/test_live_tensors","collectors/test_machine":"collectors/system/test_cpu","collectors/test_nvml":"collectors/system/test_gpu","collectors/test_op_determinism":"collectors/graph_timing/test_op_determinism","collectors/test_output_files":"collectors/saving/test_disk","collectors/test_predict_calls":"collectors/keras/test_model_calls","collectors/test_process_memory":"collectors/system/test_memory","collectors/test_python_stacks":"collectors/python/test_stacks","collectors/test_saving":"collectors/saving/test_saves","collectors/test_source_location":"collectors/hooks/test_source_location","collectors/test_stopwatch":"collectors/timing/test_stopwatch","collectors/test_tapes":"collectors/memory/test_tapes","collectors/test_thread_delays":"collectors/system/test_cpu_thread_delays","collectors/test_trace_explanations":"collectors/tracing/test_argument_changes","collectors/test_traced_earlier":"collectors/hooks/test_tensorflow_internals","collectors/test_tracing":"collectors/tracing/test_collector","collectors/test_tracing_costs":"collectors/tracing/test_collector_costs","collectors/test_tracing_leaves_no_mark":"collectors/tracing/test_collector_leaves_no_mark","collectors/test_tracing_reasons":"collectors/tracing/test_functions_reasons","collectors/test_xla":"collectors/xla/test_collector","collectors/test_xla_constants":"collectors/xla/test_constant_inputs","collectors/test_xla_in_graphs":"collectors/xla/test_graph_calls","collectors/test_xla_shapes":"collectors/xla/test_compilations",
"reader/test_reader_columns":"reader/build/test_columns","reader/test_reader_join":"reader/build/test_join","reader/test_reader_stretch":"reader/build/test_record_batch","reader/test_reader_framing":"reader/test_event_files","reader/test_reader_damage":"reader/test_event_files_damage","reader/test_reader_logdir":"reader/test_logdir","reader/test_reader_names":"reader/test_run_store_names","reader/test_reader_refusals":"reader/test_logdir_refusals","reader/test_reader_title":"records/test_metadata","records/test_records":"records/test_codec",
"report/test_report_html":"report/test_html_page","report/test_report_json":"report/test_json_body","report/test_report_private":"report/share/test_privacy_scan","report/test_report_progress":"cli/test_output","report/test_report_text":"report/test_text_report",
"server/test_server_answers":"server/test_cache_answers","server/test_server_kept":"server/test_cache","server/test_server_http":"server/test_plugin","server/test_server_ledgers":"server/test_routes_ledgers","server/test_server_loader":"server/test_loader","server/test_server_origin":"server/test_origin","server/test_server_pace":"server/test_incremental","server/test_server_params":"server/test_params","server/test_server_runs":"server/test_runs","server/test_server_shared":"server/test_routes_shared","server/test_server_turns":"server/test_runs_turns",
"writer/test_batches":"writer/test_data","writer/test_capture":"writer/test_profile_on_slowdown","writer/test_collection":"writer/sampling/test_collection","writer/test_keras_steps":"writer/keras/test_fit_steps","writer/test_phases":"writer/steps/test_phases","writer/test_recorder":"writer/steps/test_recorder","writer/test_recorder_idle":"writer/steps/test_recorder_idle","writer/test_recorder_misuse":"writer/steps/test_misuse","writer/test_sample_pace":"writer/sampling/test_sampler",
}
T = {f"traces/test_traces_{a}": f"profiler/{b}" for a, b in {"account": "test_time_sections", "digest": "test_digest", "hostile": "xplane/test_space_hostile", "recorded": "test_read_recorded"}.items()}
M.update(T)
try:
    sys.path.insert(0, str(Path(__file__).parent)); from extra_tests import EXTRA; M.update(EXTRA)
except ImportError: pass
def git(*a): subprocess.run(["git", "-C", str(tree), *a], check=True, capture_output=True)
# data and makers of captures
for f in list((U / "traces").iterdir()) if (U / "traces").is_dir() else []:
    if f.stem.startswith("test_") or f.name == "__pycache__": continue
    (U / "profiler").mkdir(exist_ok=True); git("mv", str(f), str(U / "profiler" / f.name))
for f in sorted((U / "traces").glob("test_*.py")) if (U / "traces").is_dir() else []:
    M.setdefault(f"traces/{f.stem}", "profiler/" + f.stem.replace("test_traces_", "test_"))
moved = {}
for o, n in M.items():
    src, dst = U / (o + ".py"), U / (n + ".py")
    if not src.exists() or o == n: continue
    delta = len(Path(n).parts) - len(Path(o).parts)
    t = src.read_text()
    if delta:
        t = re.sub(r"Path\(__file__\)((?:\.resolve\(\))?)\.parents\[(\d+)\]", lambda m: f"Path(__file__){m[1]}.parents[{int(m[2]) + delta}]", t)
        t = re.sub(r"Path\(__file__\)((?:\.resolve\(\))?)\.parent(?![s\w])((?:\.parent\b)*)", lambda m: f"Path(__file__){m[1]}.parents[{m[2].count('.parent') + delta}]", t)
        src.write_text(t)
    dst.parent.mkdir(parents=True, exist_ok=True); git("mv", str(src), str(dst)); moved[o] = n
for f in subprocess.run(["git", "-C", str(tree), "ls-files"], capture_output=True, text=True).stdout.splitlines():
    p = tree / f
    if not f.endswith((".py", ".md", ".toml", ".yml")) or not p.is_file(): continue
    t = new = p.read_text(errors="surrogateescape")
    for o, n in moved.items(): new = re.sub(rf"tests/unit/{o}\.py", f"tests/unit/{n}.py", new)
    new = new.replace("tests/unit/profiler/data", "tests/unit/profiler/data").replace('"unit/profiler/data"', '"unit/profiler/data"').replace('"unit" / "profiler"', '"unit" / "profiler"').replace("unit/profiler/", "unit/profiler/").replace("from unit.profiler.", "from unit.profiler.")
    if new != t: p.write_text(new, errors="surrogateescape")
print("tests moved", len(moved))
