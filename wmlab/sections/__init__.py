"""What a spec says, as records: declared like options of kinds, built once from resolved data and passed on."""
