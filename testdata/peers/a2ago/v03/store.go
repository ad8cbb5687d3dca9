package main

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/a2aproject/a2a-go/a2a"
)

// A store keeps tasks. The SDK's own lists them only for users, whom nothing outside
// the SDK can set.
type store struct {
	mu    sync.Mutex
	ids   []a2a.TaskID // in the order of their last change
	tasks map[a2a.TaskID]kept
}

type kept struct {
	task    []byte
	version a2a.TaskVersion
}

func newStore() *store { return &store{tasks: make(map[a2a.TaskID]kept)} }

func (s *store) Save(_ context.Context, task *a2a.Task, _ a2a.Event, _ *a2a.Task, before a2a.TaskVersion) (a2a.TaskVersion, error) {
	b, err := json.Marshal(task)
	if err != nil {
		return a2a.TaskVersionMissing, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.tasks[task.ID].version
	if before != a2a.TaskVersionMissing && was != before {
		return a2a.TaskVersionMissing, a2a.ErrConcurrentTaskModification
	}
	s.tasks[task.ID] = kept{b, was + 1}
	s.ids = append(slices.DeleteFunc(s.ids, func(id a2a.TaskID) bool { return id == task.ID }), task.ID)
	return was + 1, nil
}

func (s *store) Get(_ context.Context, id a2a.TaskID) (*a2a.Task, a2a.TaskVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.tasks[id]
	if !ok {
		return nil, a2a.TaskVersionMissing, a2a.ErrTaskNotFound
	}
	task := new(a2a.Task)
	err := json.Unmarshal(k.task, task)
	return task, k.version, err
}

// List pages by the ID of the first task of the next page.
func (s *store) List(ctx context.Context, q *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	s.mu.Lock()
	ids := slices.Clone(s.ids)
	s.mu.Unlock()
	slices.Reverse(ids)
	page := &a2a.ListTasksResponse{PageSize: q.PageSize}
	if page.PageSize == 0 {
		page.PageSize = 50
	}
	begun := q.PageToken == ""
	for _, id := range ids {
		task, _, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if q.ContextID != "" && task.ContextID != q.ContextID || q.Status != "" && task.Status.State != q.Status {
			continue
		}
		page.TotalSize++
		begun = begun || string(id) == q.PageToken
		switch {
		case !begun || page.NextPageToken != "":
			continue
		case len(page.Tasks) == page.PageSize:
			page.NextPageToken = string(id)
			continue
		}
		if !q.IncludeArtifacts {
			task.Artifacts = nil
		}
		task.History = task.History[max(0, len(task.History)-q.HistoryLength):]
		page.Tasks = append(page.Tasks, task)
	}
	return page, nil
}
