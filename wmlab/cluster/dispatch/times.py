"""How long a run waits for what, in seconds."""

from wmlab.cluster import json_files

TICK = 0.3  # between two looks at what jobs have written
LATE = json_files.LATE  # in which a result that was stored elsewhere has to be seen here
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)  # after each time that an engine was busy, or a job died
CHECK_FIRST = 1.0  # of looking at stored results before the first job
