(* Scores and lists that meet all that the theorems of joint top-k ask for, and reach their bounds; and what is wrong with
   smaller constants. *)

From Coq Require Import ZArith List Lia.
From Discreet Require Import Records JointTopK.
Import ListNotations.
Open Scope Z_scope.

(* Three candidates with 1, 1 and 2 rows; a row of the first comes, and one of the second goes. *)
Definition before (j : nat) : Z := match j with 2%nat => 2 | _ => 1 end.
Definition one_row (j : nat) : Z := match j with 1%nat => 1 | _ => 2 end.
Definition after (j : nat) : Z := match j with 0%nat => 2 | 1%nat => 0 | 2%nat => 2 | _ => 1 end.

Definition last_and_second (i : nat) : nat := match i with O => 2%nat | _ => 1%nat end.
Definition first_and_last (i : nat) : nat := match i with O => 0%nat | _ => 2%nat end.

(* What the scores at the places are: the greatest t that enough candidates reach. *)
Ltac places :=
  unfold at_place, reach, before, one_row, after in *; cbn [seq tally] in *;
  repeat match goal with
  | H : context [?x <=? ?y] |- _ => destruct (Z.leb_spec x y)
  | |- context [?x <=? ?y] => destruct (Z.leb_spec x y)
  end; try lia.

Ltac two_places := intros [|[|i]] t less here; cbn [last_and_second first_and_last];
  [places|places|lia].

Lemma lists : list_of 3 2 last_and_second /\ list_of 3 2 first_and_last.
Proof. split; (split; [lia|]); intros [|[|i]] less; cbn; lia. Qed.

Lemma losses_before : loss 3 2 before last_and_second 0 /\ loss 3 2 before first_and_last 1.
Proof.
  split; (split; [two_places|]).
  - exists 0%nat, 2. split; [lia|split; [places|reflexivity]].
  - exists 0%nat, 2. split; [lia|split; [places|reflexivity]].
Qed.

Lemma losses_with_one_row : loss 3 2 one_row last_and_second 1 /\ loss 3 2 one_row first_and_last 0.
Proof.
  split; (split; [two_places|]).
  - exists 1%nat, 2. split; [lia|split; [places|reflexivity]].
  - exists 0%nat, 2. split; [lia|split; [places|reflexivity]].
Qed.

Lemma one_row_moves : moved 3 0 1 before one_row.
Proof. intros [|[|[|j]]] less; cbn; lia. Qed.

Lemma rows_exchanged : exchanged 0 1 before after.
Proof.
  split; [lia|split; [reflexivity|split; [reflexivity|]]].
  intros [|[|[|j]]] not_p not_q; try lia; reflexivity.
Qed.

Lemma losses_after : loss 3 2 after last_and_second 2 /\ loss 3 2 after first_and_last 0.
Proof.
  split; (split; [two_places|]).
  - exists 1%nat, 2. split; [lia|split; [places|reflexivity]].
  - exists 0%nat, 2. split; [lia|split; [places|reflexivity]].
Qed.

Example at_place_exists_instance : exists t, at_place 3 before 1 t.
Proof. apply at_place_exists. lia. Qed.

Example loss_moves_instance : moved 3 0 1 before one_row /\ 1 - 0 = 1 /\ - (1) <= 1 - 0 <= 1.
Proof.
  split; [exact one_row_moves|split; [reflexivity|]].
  apply (loss_moves 3 2 0 1 before one_row last_and_second 0 1); [apply lists|exact one_row_moves|apply losses_before|
    apply losses_with_one_row].
Qed.

Example joint_top_k_spread_instance : (1 - 0) - (0 - 1) = 2 * 1 /\ (1 - 0) - (0 - 1) <= 2 * 1.
Proof.
  split; [reflexivity|].
  apply (joint_top_k_spread 3 2 0 1 before one_row last_and_second first_and_last 0 1 1 0);
    [apply lists|apply lists|exact one_row_moves|apply losses_before|apply losses_with_one_row|apply losses_before|
     apply losses_with_one_row].
Qed.

Lemma lists_of_one : list_of 3 1 last_and_second /\ list_of 3 1 first_and_last.
Proof. split; (split; [lia|]); intros i less; replace i with 0%nat by lia; cbn; lia. Qed.

Lemma losses_of_one :
  loss 3 1 before last_and_second 0 /\ loss 3 1 one_row last_and_second 0 /\
  loss 3 1 before first_and_last 1 /\ loss 3 1 one_row first_and_last 0.
Proof.
  split; [|split; [|split]]; (split;
    [intros [|i] t less here; [cbn [last_and_second first_and_last]; places|lia]|
     exists 0%nat, 2; split; [lia|split; [places|reflexivity]]]).
Qed.

Example joint_top_one_spread_instance : (0 - 0) - (0 - 1) = 1 /\ (0 - 0) - (0 - 1) <= 1.
Proof.
  split; [reflexivity|].
  apply (joint_top_one_spread 3 0 1 before one_row last_and_second first_and_last 0 0 1 0);
    [apply lists_of_one|apply lists_of_one|exact one_row_moves|apply losses_of_one|apply losses_of_one|apply losses_of_one|
     apply losses_of_one].
Qed.

Example joint_top_k_replace_one_instance : (2 - 0) - (0 - 1) = 3 /\ (2 - 0) - (0 - 1) <= 3.
Proof.
  split; [reflexivity|].
  apply (joint_top_k_replace_one 3 2 0 1 before after last_and_second first_and_last 0 2 1 0);
    [apply lists|apply lists|exact rows_exchanged|apply losses_before|apply losses_after|apply losses_before|
     apply losses_after].
Qed.

(* ---- Smaller constants would be wrong ---- *)

Lemma the_spread_of_the_scores_is_too_little :
  ~ (forall c c' s r v v' w w', list_of 3 2 s -> list_of 3 2 r -> moved 3 0 1 c c' ->
       loss 3 2 c s v -> loss 3 2 c' s v' -> loss 3 2 c r w -> loss 3 2 c' r w' -> (v' - v) - (w' - w) <= 1).
Proof.
  intros wrong. destruct lists as [one other]. destruct losses_before as [v w]. destruct losses_with_one_row as [v' w'].
  specialize (wrong _ _ _ _ _ _ _ _ one other one_row_moves v v' w w'). lia.
Qed.

Lemma two_is_too_little_if_one_is_replaced :
  ~ (forall c c' s r v v' w w', list_of 3 2 s -> list_of 3 2 r -> exchanged 0 1 c c' ->
       loss 3 2 c s v -> loss 3 2 c' s v' -> loss 3 2 c r w -> loss 3 2 c' r w' -> (v' - v) - (w' - w) <= 2).
Proof.
  intros wrong. destruct lists as [one other]. destruct losses_before as [v w]. destruct losses_after as [v' w'].
  specialize (wrong _ _ _ _ _ _ _ _ one other rows_exchanged v v' w w'). lia.
Qed.
