"""Ranges of versions, as the metadata of distributions states them."""

import pytest

from holdall.cli.drivers import botocore_conflict, drivers_of, required_range


@pytest.fixture
def meet(distribution):
    def meet(first, second):
        distribution("first", requires=[f"botocore{first}"])
        distribution("second", requires=[f"botocore{second}"])
        ranges = [required_range(name, "botocore") for name in ("first", "second")]
        assert ranges[0].meets(ranges[1]) is ranges[1].meets(ranges[0])
        return ranges[0].meets(ranges[1])

    return meet


@pytest.mark.parametrize(
    "first, second, fit",
    [
        ("", ">=1", True),
        ("<2", ">=2", False),
        ("<=2", ">=2", True),
        ("<=2", ">2", False),
        ("==1.40.*", ">=1.40.9", True),
        ("==1.40.*", ">=1.41", False),
        ("~=1.40.5", ">=1.41", False),
        ("~=1.40.5", ">=1.40.7,<1.40.9", True),
        ("~=1.40", ">=1.99", True),
        ("~=1.0", ">=2", False),
        ("==1.0.*", ">=1.1", False),
        ("==1.40", "==1.40.0", True),
        ("==1.40.1", "==1.40.10", False),
        (">=1.9", "<1.10", True),
        ("<1.10,>=1.9", ">1.9.5,!=1.9.6", True),
        ("[crt]<1.10,>=1.9", " (>=1.10)", False),
    ],
)
def test_ranges_meet_or_exclude_each_other(meet, first, second, fit):
    assert meet(first, second) is fit


def test_what_only_an_extra_requires_does_not_count(distribution):
    distribution("picky", requires=['botocore<1; extra == "old"', 'botocore>=2; python_version > "3"'])
    assert required_range("picky", "botocore").text == ">=2"
    assert required_range("picky", "urllib3") is None
    assert required_range("no-such-distribution", "botocore") is None


def test_versions_of_an_extra(distribution):
    distribution("driver", "3.2")
    distribution("owner", requires=['driver>=3; extra == "here"', 'absent[x]>=1; extra == "here"', "click"])
    assert drivers_of("owner", "here") == {"driver": "3.2", "absent": None}
    assert drivers_of("owner", None) == {}


def test_an_installed_botocore_that_neither_accepts(distribution):
    distribution("boto3", "1.44", requires=["botocore<1.45,>=1.44"])
    distribution("aiobotocore", "3.0", requires=["botocore<1.45,>=1.44"])
    distribution("botocore", "1.50")
    found = botocore_conflict()
    assert found.exists
    assert "botocore 1.50 is installed" in found.detail
