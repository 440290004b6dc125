"""The gallery: runs whose results and pictures are committed, and the pages whose numbers are read back from them."""
