"""The short import: `import tbslow` is `tb_slowdown_plugin`."""
