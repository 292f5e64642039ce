EXTRA = {
"analysis/test_advice_applies":"analysis/causes/test_fixes_apply","analysis/test_advice_of_reviews":"analysis/causes/test_fixes_of_reviews","analysis/test_blind_spots":"analysis/text/test_blind_spots","analysis/test_change_labels":"analysis/causes/test_change_labels","analysis/test_engine_confirming":"analysis/live/test_confirming","analysis/test_settled":"analysis/prepare/test_settled_functions","analysis/test_short_runs":"analysis/ledger/test_short_runs","analysis/test_unexplained":"analysis/causes/test_unexplained",
"analysis/test_engine_live":"analysis/live/test_hysteresis",
"collectors/test_amd_gpu":"collectors/system/test_amd_gpu","collectors/test_installed_code":"collectors/hooks/test_installed_code","collectors/test_keras_module":"collectors/test_base","collectors/test_method_hooks":"collectors/hooks/test_method_hooks","collectors/test_pipeline_stages":"collectors/input/test_pipeline_stages","writer/test_flush_pace":"writer/sampling/test_flush_pace",
}
