"""What programs that work on programs need: `overt.extend.core`, staged programs as equations.

>>> import overt
>>> from overt.extend import core
>>> isinstance(overt.make_jaxpr(lambda x: x + 1)(1.0), core.ClosedJaxpr)
True
"""

from overt.extend import core as core
