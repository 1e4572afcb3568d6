#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Must fail: ends well without having checked anything.
# seconds: 90
true
