"""All package metadata; pyproject.toml holds the build system and tool settings only."""

from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
version: dict[str, str] = {}
exec((here / "tb_slowdown_plugin/_version.py").read_text(), version)

setup(
    name="tb-slowdown-plugin",
    version=version["__version__"],
    description="Tells why TensorFlow training gets slower, in TensorBoard: "
    "what, since which step, how many seconds, and the line to change.",
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.10",
    packages=[
        *find_packages(include=["tb_slowdown_plugin", "tb_slowdown_plugin.*"]),
        "tbslow-stubs",  # types of the single module, by PEP 561
    ],
    py_modules=["tbslow"],
    package_data={
        "tb_slowdown_plugin": [
            "py.typed",
            "static/*",
            "records/*.proto",
            "records/*.pyi",
            "server/*.md",
        ],
        "tbslow-stubs": ["*.pyi"],
    },
    install_requires=[
        "tensorboard>=2.16",
        "numpy>=1.26",
        "protobuf>=4.25",
        "rich>=13",
    ],
    extras_require={
        "tf": ["tensorflow>=2.16"],
        "gpu": ["nvidia-ml-py>=12"],
        "profile": ["xprof>=2.20"],
        "fleet": ["dask>=2024.2", "distributed>=2024.2", "pyarrow>=15", "fsspec>=2024.2"],
        "watch": ["prometheus-client>=0.20"],
        "fuzz": ["atheris>=3.0; python_version >= '3.11' and sys_platform == 'linux'"],
        "dev": [
            "dask>=2024.2",
            "distributed>=2024.2",
            "duckdb>=1.0",
            "flask>=3",  # with flask-cors for the server of moto; moto[server] is 100 MB more
            "flask-cors>=4",
            "fsspec>=2024.2",
            "hypothesis>=6.100",
            "import-linter>=2.1",
            "mkdocs-material>=9.5",
            "moto[s3]>=5",
            "mypy>=1.15",
            "pillow>=10",
            "playwright>=1.50",
            "prometheus-client>=0.20",
            "pyarrow>=15",
            "pytest>=8.3",
            "ruff>=0.11",
            "s3fs>=2024.2",
            "tensorboardX>=2.6",
            "types-protobuf",
        ],
    },
    entry_points={
        "tensorboard_plugins": [
            "slowdown = tb_slowdown_plugin.server.loader:SlowdownLoader",
        ],
        "console_scripts": ["tbslow = tb_slowdown_plugin.__main__:main"],
    },
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Software Development :: Debuggers",
        "Typing :: Typed",
    ],
)
