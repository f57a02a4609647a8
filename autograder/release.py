"""How a solution becomes a release, where nbgrader's own way leaves nothing to start from."""

from nbgrader.preprocessors import ClearSolutions as NbgraderClearSolutions


class ClearSolutions(NbgraderClearSolutions):
    """nbgrader's ClearSolutions, which also knows a cell's own stub (metadata blocklab.stub)."""

    def preprocess_cell(self, cell, resources, cell_index):
        stub = cell.metadata.pop("blocklab", {}).get("stub")
        if stub is None:
            return super().preprocess_cell(cell, resources, cell_index)
        cell.source = stub
        return cell, resources
